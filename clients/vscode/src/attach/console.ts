// A running agent in a terminal: what it says scrolls by, and a line is typed below it.
import { type RuntimeResponse, type Tackroom, TackroomError } from "tackroom-client";
import { oneLine } from "../clean";
import type { Asked } from "./asked";
import { Canvas } from "./canvas";
import { Consent } from "./consent";
import { type Draft, Editor, NO_DRAFT } from "./editor";
import { Joined } from "./joined";
import { type Key, Keys } from "./keys";
import { alert, type Line, note } from "./line";
import { HELP, read } from "./typed";
import { historyLines, View } from "./view";

/** How long lines are gathered before they are drawn, in milliseconds. */
const GATHER_MS = 16;
/** How often it is asked who drives: a runtime tells nobody. In milliseconds. */
const LOOK_MS = 3_000;

export interface Surroundings {
  /** The server of now; throws where there is none. */
  client(): Tackroom;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  write(text: string): void;
  /** The person has left. */
  left(): void;
  /** What waits for an answer has changed; undefined: nothing does. */
  asks(asked: Asked | undefined): void;
  /** Whether control is to be taken from another client. */
  mayTake(holder: string): Promise<boolean>;
}

export class Console {
  readonly #id: string;
  readonly #around: Surroundings;
  readonly #canvas: Canvas;
  readonly #view = new View();
  readonly #editor = new Editor();
  readonly #keys = new Keys();
  readonly #consent: Consent;
  #joined: Joined | undefined;
  #isOver = true;
  #isJoining = false;
  #isClosed = false;
  #pending: Line[] = [];
  #drawing: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  /** The request that a line would answer, and what stood in the line when the first one came. */
  #asking: number | undefined;
  #draft: Draft = NO_DRAFT;

  constructor(id: string, size: { columns: number; rows: number }, around: Surroundings) {
    this.#id = id;
    this.#around = around;
    this.#consent = new Consent(() => around.now());
    this.#canvas = new Canvas(size.columns, size.rows);
  }

  /** Fulfilled when it is attached, or when it was said why not. */
  async open(): Promise<void> {
    this.#looking = setInterval(() => void this.#look(), LOOK_MS);
    this.#looking.unref();
    await this.#join();
  }

  /** Leaves; the runtime goes on. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#looking);
    clearTimeout(this.#drawing);
    this.#around.asks(undefined);
    await this.#joined?.leave();
  }

  resize(columns: number, rows: number): void {
    this.#canvas.resize(columns, rows);
    this.#stale();
  }

  input(data: string): void {
    for (const key of this.#keys.take(data)) this.#key(key);
    this.#stale();
  }

  /** Answers from elsewhere; false where that does not wait any more. */
  answer(id: number, response: RuntimeResponse): boolean {
    if (!this.#joined?.asked.some((asked) => asked.id === id)) return false;
    void this.#respond(response);
    return true;
  }

  async #join(): Promise<void> {
    if (this.#isJoining) return;
    this.#isJoining = true;
    this.#stale();
    try {
      const before = this.#joined;
      const joined = await Joined.join(this.#around.client(), this.#id, before);
      if (this.#isClosed) return await joined.leave();
      this.#joined = joined;
      this.#isOver = false;
      if (!before) this.#open(joined);
      void this.#listen(joined);
    } catch (error) {
      this.#over((error as Error).message);
    } finally {
      this.#isJoining = false;
      this.#changed();
    }
  }

  #open({ attachment, about }: Joined): void {
    for (const message of attachment.history) this.#print(historyLines(message));
    const agent = about.extensions?.tackroom?.agent?.name ?? about.source_harness;
    const model = about.model === about.source_harness ? undefined : about.model;
    const words = oneLine([agent, model].filter((word) => typeof word === "string").join(", "));
    const known = words === "" ? "" : ` (${words})`;
    this.#say(`attached to ${this.#id}${known} as ${attachment.clientId}`);
    this.#say("a runtime denies approvals while nobody watches, and asks while somebody does: now it asks");
    this.#say("/help says what can be typed; Ctrl+D leaves, and the runtime goes on");
  }

  async #listen(joined: Joined): Promise<void> {
    let why = "the attachment is over";
    try {
      for await (const event of joined.attachment) {
        if (this.#isClosed || this.#joined !== joined) return;
        const isNews = joined.hear(event);
        if (event.kind === "lagged") {
          this.#say("fell behind, and attaches again");
          return void this.#join();
        }
        if (event.kind === "disconnected") why = event.reason ?? "the runtime is gone";
        else if (isNews) this.#print(this.#view.event(event.kind, event.payload));
        this.#changed();
      }
    } catch (error) {
      why = (error as Error).message;
    }
    if (!this.#isClosed && this.#joined === joined) this.#over(why);
  }

  #over(why: string): void {
    this.#isOver = true;
    if (this.#joined) {
      this.#joined.isRunning = false;
      this.#joined.asked = [];
    }
    this.#print([...this.#view.finish(), alert(why)]);
    this.#changed();
  }

  async #look(): Promise<void> {
    if (this.#isOver) return;
    // Its end is told by its events.
    await this.#joined?.look().catch(() => {});
    this.#stale();
  }

  #key(key: Key): void {
    this.#consent.key(this.#editor.isEmpty);
    if (key.kind === "enter") this.#enter();
    else if (key.kind === "ctrl" && key.letter === "c") this.#interrupt();
    else if (key.kind === "ctrl" && key.letter === "d" && this.#editor.isEmpty) this.#around.left();
    else this.#editor.edit(key);
  }

  #interrupt(): void {
    const joined = this.#joined;
    if (joined?.isRunning) {
      void this.#try(async () => {
        if (!(await joined.interrupt())) this.#say("no turn runs");
      });
    } else if (this.#editor.isEmpty) {
      this.#say("no turn runs; Ctrl+D leaves");
    } else {
      this.#editor.take();
    }
  }

  #enter(): void {
    const line = this.#editor.take();
    const meant = read(line, this.#joined?.question);
    const { isMeant } = this.#consent;
    this.#consent.ended(meant.kind === "nothing");
    switch (meant.kind) {
      case "nothing":
        return;
      case "quit":
        return this.#around.left();
      case "help":
        return HELP.forEach((text) => this.#say(text));
      case "again":
        return this.#isOver ? void this.#join() : this.#say("attached already");
      case "unanswered":
        this.#say("answer what is asked first, or /steer TEXT");
        return;
      case "unknown":
        return this.#say(`there is no /${meant.word}; /help says what there is, //TEXT says /TEXT`);
    }
    const joined = this.#joined;
    if (!joined || this.#isOver) {
      this.#editor.offer(line);
      return this.#say("not attached; /again attaches again");
    }
    switch (meant.kind) {
      case "answer":
        if (!isMeant) return this.#say("nothing was answered: that came too soon; Enter on an empty line or a short pause first, then the answer");
        return void this.#respond(meant.response);
      case "take":
        return void this.#take(joined);
      case "release":
        return void this.#release(joined);
      default:
        this.#speak(joined, meant.text, meant.kind === "steer" || joined.isRunning);
    }
  }

  #speak(joined: Joined, text: string, isSteering: boolean): void {
    if (isSteering && !joined.about.actions?.steer) {
      this.#editor.offer(text);
      return this.#say("this runtime cannot be steered; wait for the end of the turn, or Ctrl+C interrupts it");
    }
    void this.#try(
      async () => {
        await (isSteering ? joined.steer(text) : joined.say(text));
        if (isSteering) this.#say(`steered: ${text}`);
      },
      () => {
        if (this.#editor.isEmpty && !joined.question) this.#editor.offer(text);
        else if (this.#draft.text === "") this.#draft = { text, isOffered: true };
      },
    );
  }

  async #respond(response: RuntimeResponse): Promise<void> {
    const joined = this.#joined;
    if (joined) await this.#try(() => joined.respond(response));
  }

  #take(joined: Joined): Promise<void> {
    return this.#try(async () => {
      await joined.take();
      this.#say("you drive now");
    });
  }

  /** Leaves and comes back, so that control is free. */
  async #release(joined: Joined): Promise<void> {
    this.#isOver = true;
    await joined.leave();
    this.#say("let go of control");
    await this.#join();
  }

  /** Does something; where another client drives, again when it has been asked whether to take control. */
  async #try(act: () => Promise<void>, failed?: () => void): Promise<void> {
    const joined = this.#joined;
    try {
      await act();
    } catch (error) {
      const holder = error instanceof TackroomError && error.reason === "controller_required" && joined?.driver;
      if (holder && (await this.#around.mayTake(oneLine(holder))) && joined === this.#joined && !this.#isClosed) {
        return this.#try(async () => {
          await joined.take();
          await act();
        }, failed);
      }
      failed?.();
      const expired = error instanceof TackroomError && error.reason === "lease_expired";
      this.#print([alert(`${(error as Error).message}${holder || expired ? "; /take takes control" : ""}`)]);
    }
    this.#stale();
  }

  /** What was being typed before something was asked is no answer to it; it comes back when all is answered. */
  #changed(): void {
    const question = this.#isOver ? undefined : this.#joined?.question;
    const before = this.#asking;
    this.#asking = question?.id;
    if (before !== question?.id) {
      if (question) this.#consent.asked();
      if (before === undefined) this.#draft = this.#editor.putAside();
      // Half an answer to another request.
      else if (question) this.#editor.take();
      else if (this.#editor.isEmpty) {
        this.#editor.bringBack(this.#draft);
        this.#draft = NO_DRAFT;
      }
      this.#around.asks(question);
    }
    this.#stale();
  }

  #say(text: string): void {
    this.#print([note(text)]);
  }

  #print(lines: Line[]): void {
    // A remark of ours does not end the line that is being said: it goes above it.
    this.#pending.push(...lines);
    this.#stale();
  }

  #stale(): void {
    if (this.#isClosed) return;
    this.#drawing ??= setTimeout(() => {
      this.#drawing = undefined;
      const { text: typed, column } = this.#editor.visible(this.#canvas.room);
      const lines = this.#pending;
      this.#pending = [];
      this.#around.write(this.#canvas.draw(lines, { partial: this.#view.partial, status: this.#status(), typed, column }));
    }, GATHER_MS);
  }

  #status(): Line {
    const joined = this.#joined;
    if (this.#isJoining) return note("attaching");
    if (!joined || this.#isOver) return note("not attached; /again attaches again, Ctrl+D leaves");
    const { question } = joined;
    if (question) return { text: question.choices(), colour: "alert" };
    const who =
      joined.drives ? "you drive"
      : joined.driver !== undefined ? `${joined.driver} drives, /take takes control`
      : joined.about.actions?.submit ? "nobody drives, typing takes control"
      : "you only look";
    const others = joined.others === 0 ? "" : joined.others === 1 ? " - 1 other looks" : ` - ${joined.others} others look`;
    const stop = joined.isRunning && joined.drives ? " - Ctrl+C interrupts" : "";
    return note(`${joined.isRunning ? "busy" : "idle"} - ${who}${others}${stop}`);
  }
}
