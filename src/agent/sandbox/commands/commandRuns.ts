import { messageOf } from '../../base/errors.ts';
import { Emitter, type Event } from '../../base/event.ts';
import { OutputBuffer } from './outputBuffer.ts';

/** Why a command was ended before it ended by itself. */
export type EndedBy = 'timeLimit' | 'user';

/** Takes the output of a command, and signals when the command is to be ended. */
export interface RunSink {
  /** Fires when the command is to be ended. */
  readonly signal: AbortSignal;
  add(chunk: string): void;
}

/** A command that is running. */
export interface CommandRun extends RunSink {
  readonly output: OutputBuffer;
  /** Set once the time limit or the user has told it to end. */
  readonly endedBy: EndedBy | undefined;
  /** Since it was started. */
  readonly seconds: number;
  /** Ends the command for the user. */
  stop(): void;
  /** Reports that the command has ended. */
  end(): void;
  /** Settles once the command has ended. */
  readonly ended: Promise<void>;
}

/** A command in the background, which goes on after its apply has settled. */
export interface BackgroundCommand {
  readonly previewId: string;
  readonly command: string;
  readonly run: CommandRun;
  /** How it ended, in words; `undefined` while it runs. */
  ending: string | undefined;
  /** Whether the model knows how it ended. */
  isTold?: boolean;
}

/** How much of the output {@link CommandRuns.outputOf} returns, in characters. */
const SHOWN_CHARS = 4_000;
/** How many commands in the background are kept once they have ended. */
const MAX_ENDED = 10;

/** The commands that applied previews are running: their output, and how to stop them. */
export class CommandRuns {
  readonly #running = new Map<string, CommandRun>();
  readonly #background = new Map<string, BackgroundCommand>();
  readonly #changed = new Emitter<void>();

  /** Fires when a command starts, writes or ends. Output comes often: collect the events. */
  readonly onDidChange: Event<void> = this.#changed.event;

  /** @param timeLimit in milliseconds, after which the command is ended; without one, it runs until it ends or is stopped. */
  start(previewId: string, timeLimit?: number): CommandRun {
    const controller = new AbortController();
    const output = new OutputBuffer();
    let endedBy: EndedBy | undefined;
    const endBy = (who: EndedBy): void => {
      endedBy ??= who;
      controller.abort();
    };
    const timer = timeLimit === undefined ? undefined : setTimeout(() => endBy('timeLimit'), timeLimit);
    const began = performance.now();
    const changed = this.#changed;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const run: CommandRun = {
      output,
      signal: controller.signal,
      get endedBy() {
        return endedBy;
      },
      get seconds() {
        return (performance.now() - began) / 1_000;
      },
      add: chunk => {
        output.add(chunk);
        changed.fire();
      },
      stop: () => endBy('user'),
      ended,
      end: () => {
        clearTimeout(timer);
        resolve();
        this.#running.delete(previewId);
        changed.fire();
      },
    };
    this.#running.set(previewId, run);
    changed.fire();
    return run;
  }

  /** The end of the output so far, as plain text; `undefined` if the preview runs no command now. */
  outputOf(previewId: string): string | undefined {
    return this.#running.get(previewId)?.output.end(SHOWN_CHARS);
  }

  /**
   * Keeps a command in the background, and its end for a while.
   * @param end settles with the words for how it ended
   */
  keep(previewId: string, command: string, run: CommandRun, end: Promise<string>): void {
    const kept: BackgroundCommand = { previewId, command, run, ending: undefined };
    this.#background.set(previewId, kept);
    const done = (ending: string): void => {
      kept.ending = ending;
      run.end();
      const ended = this.background.filter(each => each.ending !== undefined);
      for (const old of ended.slice(0, -MAX_ENDED)) this.#background.delete(old.previewId);
    };
    void end.then(done, (error: unknown) => done(messageOf(error)));
  }

  isInBackground(previewId: string): boolean {
    return this.#background.has(previewId);
  }

  /** The commands in the background, the oldest first. */
  get background(): readonly BackgroundCommand[] {
    return [...this.#background.values()];
  }

  /** Ends the command of a preview. */
  stop(previewId: string): void {
    this.#running.get(previewId)?.stop();
  }

  /** Ends all commands except those in the background. Each apply settles once its command has ended. */
  stopAll(): void {
    for (const [id, run] of this.#running) if (!this.#background.has(id)) run.stop();
  }

  /** Ends all commands, those in the background included, and settles once they have ended. */
  async close(): Promise<void> {
    const ends = [...this.#running.values()].map(run => {
      run.stop();
      return run.ended;
    });
    await Promise.all(ends);
  }
}
