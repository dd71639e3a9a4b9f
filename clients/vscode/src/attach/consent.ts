// Whether a line that is typed may answer what is asked: letters on their way to something else consent to nothing.

/** How long no key came before a line that answers, and how long what is asked has been there, in milliseconds. */
const PAUSE_MS = 1_000;

export class Consent {
  readonly #now: () => number;
  /** When it was asked, or the last key came. */
  #stirred = -Infinity;
  #isMeant = true;

  /** `now` never goes back, in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the line that is being typed was begun as an answer. */
  get isMeant(): boolean {
    return this.#isMeant;
  }

  /** Something else is asked. */
  asked(): void {
    this.#stirred = this.#now();
    this.#isMeant = false;
  }

  /** A key comes, the first of a line or another one. */
  key(isFirst: boolean): void {
    const now = this.#now();
    // An empty line said before that an answer follows.
    if (isFirst && now - this.#stirred >= PAUSE_MS) this.#isMeant = true;
    this.#stirred = now;
  }

  /** A line ends; whether an answer may follow at once. */
  ended(mayFollow: boolean): void {
    this.#isMeant = mayFollow;
  }
}
