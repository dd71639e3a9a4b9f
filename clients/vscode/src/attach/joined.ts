// One attachment: what is asked, what is answered, what is known of the runtime.
import { type Attachment, type Lease, type RuntimeEvent, type RuntimeResponse, type Tackroom, TackroomError } from "tackroom-client";
import { randomBytes } from "node:crypto";
import { Asked } from "./asked";

/** What a descriptor says that is of use here. */
export interface About {
  model?: string;
  source_harness?: string | null;
  turn_state?: string;
  extensions?: { tackroom?: { agent?: { name?: string } } };
  actions?: { submit?: boolean; interrupt?: boolean; steer?: boolean; respond?: boolean };
}

export class Joined {
  readonly attachment: Attachment;
  readonly about: About;
  /** Whether a turn runs. */
  isRunning: boolean;
  /** Who drives, as far as is known. */
  driver: string | undefined;
  /** How many others look. */
  others = 0;
  /** What waits for an answer, the oldest first. */
  asked: Asked[] = [];
  /** The number of the last event. */
  last: number;
  /** What was asked and settled before it was joined. */
  readonly #past: Set<unknown>;

  private constructor(attachment: Attachment, last: number) {
    this.attachment = attachment;
    this.about = attachment.descriptor as About;
    this.isRunning = this.about.turn_state === "busy";
    this.last = Math.max(last, attachment.historyCursor);
    this.#past = settledIn(attachment.replay);
    this.#see(attachment.lease);
  }

  /** Joins a runtime; again, under the name and from the event that one before it had. */
  static async join(client: Tackroom, id: string, before?: Joined): Promise<Joined> {
    const clientId = before?.attachment.clientId ?? `vscode-${randomBytes(3).toString("hex")}`;
    const params = { id, clientId, ...(before && { after: before.last }) };
    return new Joined(await client.attach(params), before?.last ?? 0);
  }

  /** Whether this client drives. */
  get drives(): boolean {
    return this.driver === this.attachment.clientId;
  }

  /** What waits for an answer of ours. */
  get question(): Asked | undefined {
    return this.about.actions?.respond ? this.asked[0] : undefined;
  }

  /** Takes note of an event; whether a person is to hear of it. */
  hear(event: RuntimeEvent): boolean {
    const reached = "sequence" in event ? event.sequence : event.kind === "lagged" ? event.cursor : 0;
    this.last = Math.max(this.last, reached);
    if ("payload" in event && this.#past.has(requestOf(event))) return false;
    switch (event.kind) {
      case "turn_started":
        this.isRunning = true;
        break;
      case "turn_succeeded":
      case "turn_interrupted":
      case "turn_failed":
        this.isRunning = false;
        // A host reports each request that is over; what was asked outside of the turn stays open.
        if (!this.about.extensions?.tackroom) this.asked = [];
        break;
      case "request": {
        const asked = Asked.of(event.payload);
        if (asked) this.asked.push(asked);
        break;
      }
      case "request_resolved": {
        const settled = requestOf(event);
        this.asked = this.asked.filter(({ id }) => id !== settled);
      }
    }
    return true;
  }

  say(text: string): Promise<void> {
    return this.#drive(this.attachment.sendInput(text));
  }

  steer(text: string): Promise<void> {
    return this.#drive(this.attachment.steer(text));
  }

  respond(response: RuntimeResponse): Promise<void> {
    return this.#drive(this.attachment.respond(response));
  }

  /** Whether there was a turn to interrupt. */
  interrupt(): Promise<boolean> {
    return this.#drive(this.attachment.interrupt());
  }

  async take(): Promise<void> {
    this.#see(await this.attachment.takeControl());
  }

  async look(): Promise<void> {
    this.#see(await this.attachment.readLease());
  }

  /** Leaves; the runtime goes on. */
  leave(): Promise<void> {
    return this.attachment.detach();
  }

  /** Who does something drives from then on, unless another one does. */
  async #drive<T>(doing: Promise<T>): Promise<T> {
    try {
      const done = await doing;
      this.driver = this.attachment.clientId;
      return done;
    } catch (error) {
      if (error instanceof TackroomError && error.reason === "controller_required") {
        this.driver = String(error.data["holder"] ?? "another client");
      } else if (error instanceof TackroomError && error.reason === "lease_expired") {
        this.driver = undefined;
      }
      throw error;
    }
  }

  #see({ controller, observers }: Lease): void {
    this.driver = controller?.clientId;
    const own = this.attachment.clientId;
    this.others = observers.filter(({ clientId }) => clientId !== own && clientId !== this.driver).length;
  }
}

/** The number of the request that an event is about. */
function requestOf({ kind, payload }: { kind: string; payload?: unknown }): unknown {
  const said = payload as { request?: { id?: unknown } | null; request_id?: unknown } | null | undefined;
  return kind === "request" ? said?.request?.id : kind === "request_resolved" ? said?.request_id : undefined;
}

/** The requests of which the settling is told, too. */
function settledIn(events: RuntimeEvent[]): Set<unknown> {
  const of = (kind: string) => new Set(events.filter((event) => event.kind === kind).map(requestOf));
  const resolved = of("request_resolved");
  return new Set([...of("request")].filter((id) => id !== undefined && resolved.has(id)));
}
