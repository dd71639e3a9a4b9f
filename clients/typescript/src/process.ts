import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { ServerError } from "./errors.js";
import { Lines } from "./lines.js";

/** How much of what the server wrote to standard error an error tells, in characters. */
const STDERR_TAIL = 4096;
/** How long the server may take to leave by itself, and then to leave when told by SIGTERM. */
const GRACE_MS = 5_000;
/** How long what a process has written is waited for after its end, where another one still holds its pipes. */
const DRAIN_MS = 1_000;

export interface ProcessOptions {
  command: string;
  args: string[];
  env?: NodeJS.ProcessEnv | undefined;
  cwd?: string | undefined;
  onLine(line: string, bytes: number): void;
  onStderr(line: string): void;
}

/** The server's process and its pipes. */
export class ServerProcess {
  /** Fulfilled with how it ended, when it has and all that it wrote was read. */
  readonly ended: Promise<ServerError>;
  readonly #command: string;
  readonly #child: ChildProcessWithoutNullStreams;
  #stderr = "";
  #failure: { message: string; cause: unknown } | undefined;

  constructor({ command, args, env, cwd, onLine, onStderr }: ProcessOptions) {
    this.#command = command;
    const child = spawn(command, args, { env, cwd, stdio: "pipe", windowsHide: true });
    this.#child = child;
    const output = new Lines(onLine);
    const log = new Lines((line) => {
      this.#stderr = `${this.#stderr}${line}\n`.slice(-STDERR_TAIL);
      onStderr(line);
    });
    child.stdout.on("data", (chunk) => output.push(chunk)).once("end", () => output.end());
    child.stderr.on("data", (chunk) => log.push(chunk)).once("end", () => log.end());
    // Its end is told by the process.
    child.stdin.on("error", () => {});
    this.ended = new Promise((resolve) => {
      child.once("error", (error: NodeJS.ErrnoException) => {
        // A process that is there has an end, whatever failed.
        if (child.pid === undefined) resolve(cannotStart(command, cwd, error));
      });
      child.once("exit", () => setTimeout(() => (child.stdout.destroy(), child.stderr.destroy()), DRAIN_MS).unref());
      child.once("close", (code, signal) => resolve(this.#end(code, signal)));
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  write(line: string): void {
    this.#child.stdin.write(line);
  }

  closeInput(): void {
    this.#child.stdin.end();
  }

  /** Ends what cannot be spoken with. */
  abandon(message: string, cause: unknown): void {
    this.#failure ??= { message, cause };
    void this.kill();
  }

  /** Waits for the end, and brings it about where it does not come. */
  async leave(): Promise<void> {
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await within(GRACE_MS, this.ended)) return;
      this.#child.kill(signal);
    }
    await this.ended;
  }

  /** Tells the process to end, and sees to it that it does. */
  kill(): Promise<void> {
    this.#child.kill();
    return this.leave();
  }

  #end(exitCode: number | null, signal: NodeJS.Signals | null): ServerError {
    const how = this.#failure?.message ?? (signal ? `was ended by ${signal}` : `ended with code ${exitCode}`);
    const tail = this.#stderr.trimEnd();
    return new ServerError(`\`${this.#command}\` ${how}${tail && `; it said:\n${tail}`}`, {
      ...(exitCode !== null && { exitCode }),
      ...(signal && { signal }),
      ...(this.#failure && { cause: this.#failure.cause }),
      stderr: this.#stderr,
    });
  }
}

function cannotStart(command: string, cwd: string | undefined, cause: NodeJS.ErrnoException): ServerError {
  const install = "Install it by `cargo install --path .` in Tackroom's repository, or name it by `command`";
  const missing = cwd === undefined ? "there is no such program" : `there is no such program, or no directory \`${cwd}\``;
  const why = cause.code === "ENOENT" ? `${missing}. ${install}` : cause.message;
  return new ServerError(`\`${command}\` cannot be started: ${why}`, { cause });
}

/** Whether it is fulfilled in that time. */
export async function within(ms: number, what: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  try {
    return await Promise.race([what.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
