/** Something that can be let go of; an editor's disposables are such. */
export interface Release {
  dispose(): void;
}

/** Tells who listens. */
export class Emitter<T> {
  readonly #listeners = new Set<(event: T) => void>();

  on(listener: (event: T) => void): Release {
    // A listener that is given twice hears twice.
    const own = (event: T) => listener(event);
    this.#listeners.add(own);
    return { dispose: () => this.#listeners.delete(own) };
  }

  fire(event: T): void {
    for (const listener of [...this.#listeners]) listener(event);
  }
}
