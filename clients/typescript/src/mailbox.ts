/** What keeps what was told and not yet taken. */
export interface Unread<In, Out> {
  /** Keeps what is told; `bytes` is its size as it crossed. */
  put(told: In, bytes: number): void;
  /** What is to be taken next. */
  take(): Out | undefined;
}

interface Taker<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}

/** Between the connection, which tells as it reads, and one reader, who takes when there is time. */
export class Mailbox<In, Out> {
  readonly #unread: Unread<In, Out>;
  #takers: Taker<Out>[] = [];
  #isEnded = false;
  #isDiscarded = false;
  /** Thrown once, behind all that was told. */
  #failure: { error: unknown } | undefined;

  constructor(unread: Unread<In, Out>) {
    this.#unread = unread;
  }

  put(told: In, bytes: number): void {
    if (this.#isEnded) return;
    this.#unread.put(told, bytes);
    this.#serve();
  }

  /** Nothing more will be told; what is kept can still be taken, and then comes the error, if there is one. */
  end(error?: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (error !== undefined) this.#failure = { error };
    this.#serve();
  }

  /** Nobody will take what is kept. */
  discard(error?: unknown): void {
    this.#isDiscarded = true;
    this.end(error);
  }

  next(): Promise<IteratorResult<Out, undefined>> {
    return new Promise((resolve, reject) => {
      this.#takers.push({ resolve, reject });
      this.#serve();
    });
  }

  #serve(): void {
    for (let taker; (taker = this.#takers[0]); this.#takers.shift()) {
      const value = this.#isDiscarded ? undefined : this.#unread.take();
      if (value !== undefined) {
        taker.resolve({ value, done: false });
      } else if (this.#failure) {
        taker.reject(this.#failure.error);
        this.#failure = undefined;
      } else if (this.#isEnded) {
        taker.resolve({ value: undefined, done: true });
      } else {
        return;
      }
    }
  }
}
