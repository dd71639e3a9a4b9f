export type { Attachment, PromptOptions } from "./attachment.js";
export { type SpawnOptions, Tackroom } from "./client.js";
export type { Method, Notification, Params, RequestOptions, Result } from "./connection.js";
export { ServerError, TackroomError } from "./errors.js";
export { Inventory } from "./inventory.js";
export type * from "./protocol.js";
export { PROTOCOL_VERSION } from "./protocol.js";
export type { Follow, Watch } from "./subscriptions.js";
export type { FollowEvent, WatchEvent } from "./unread.js";
