// What must and must not compile; nothing here runs.
import type { Attachment, Entry, FollowEvent, Message, RuntimeEvent, State, Tackroom, WatchEvent } from "tackroom-client";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_same: Equal<A, B>): void => {};

export async function compiles(client: Tackroom, attachment: Attachment): Promise<void> {
  const list = await client.request("registry/list", { query: { states: ["waiting"] }, limit: 1 });
  same<typeof list.entries, Entry[]>(true);
  same<Entry["state"], State>(true);
  same<Entry["title"], string | undefined>(true);
  await client.request("registry/list");
  await client.request("ping", {}, { signal: AbortSignal.timeout(1) });
  const loaded = await client.request("session/load", { id: "x" });
  same<typeof loaded.messages, Message[]>(true);

  // @ts-expect-error: there is no such method
  await client.request("registry/find", {});
  // @ts-expect-error: params that are needed
  await client.request("registry/describe");
  // @ts-expect-error: a member that is needed
  await client.request("registry/describe", {});
  // @ts-expect-error: a member that is not there
  await client.request("registry/describe", { id: "x", ident: "y" });
  // @ts-expect-error: a word that is not in the list
  await client.request("registry/list", { query: { states: ["sleeping"] } });
  // @ts-expect-error: one member of another kind of answer
  await attachment.respond({ kind: "approval", requestId: 1, action: "accept" });
  await client.request("peer/message", { name: "reviewer", text: "x" });
  // @ts-expect-error: nobody is meant
  await client.request("peer/message", { text: "x" });
  // @ts-expect-error: two may be meant
  await client.request("peer/message", { name: "reviewer", sessionId: "y", text: "x" });
  // @ts-expect-error: an endpoint alone says too little
  await client.attach({ endpoint: "x" });
  await client.attach({ endpoint: "x", source: { harness: "codex", sessionId: "y", workspace: "/p" }, after: 3 });
  await client.attach({ runtimeId: "x" });
  await attachment.respond({ kind: "elicitation", requestId: 1, action: "accept", content: { any: "thing" } });

  for await (const event of await client.watch({ text: "x" }, { since: list.revision })) {
    same<typeof event, WatchEvent>(true);
    if (event.kind === "removed") same<typeof event.id, string>(true);
    // @ts-expect-error: only some kinds have an entry
    event.entry;
  }
  for await (const event of await client.follow("x")) same<typeof event, FollowEvent>(true);
  for await (const event of attachment) {
    same<typeof event, RuntimeEvent>(true);
    if (event.kind === "lagged") same<typeof event.cursor, number>(true);
    else if (event.kind === "disconnected") same<typeof event.reason, string>(true);
    else same<typeof event.sequence, number>(true);
    if (event.kind === "text_delta") same<typeof event.payload.text, string>(true);
    if (event.kind === "request") same<typeof event.payload.request.id, number>(true);
    // @ts-expect-error: only some have a number
    event.sequence;
  }
  for await (const block of loaded.messages.flatMap(({ content }) => content)) {
    if (block.type === "toolCall") same<typeof block.name, string>(true);
  }
}
