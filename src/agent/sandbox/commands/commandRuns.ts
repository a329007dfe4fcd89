import { Emitter, type Event } from '../../base/event.ts';
import { OutputBuffer } from './outputBuffer.ts';

/** Why a command was ended before it ended by itself. */
export type EndedBy = 'timeLimit' | 'user';

/** Where the output of a command goes, and what tells that it is to be ended. */
export interface RunSink {
  /** Fires when the command is to be ended. */
  readonly signal: AbortSignal;
  add(chunk: string): void;
}

/** A command that is running. */
export interface CommandRun extends RunSink {
  readonly output: OutputBuffer;
  /** Set once it was to be ended. */
  readonly endedBy: EndedBy | undefined;
  /** Since it was started. */
  readonly seconds: number;
  /** The user stops it. */
  stop(): void;
  /** The command has ended. */
  end(): void;
}

/** How much of the output {@link CommandRuns.outputOf} returns, in characters. */
const SHOWN_CHARS = 4_000;

/** The commands that applied previews are running: their output, and how to stop them. */
export class CommandRuns {
  readonly #running = new Map<string, CommandRun>();
  readonly #changed = new Emitter<void>();

  /** Fires when a command starts, writes or ends. Output comes often: collect the events. */
  readonly onDidChange: Event<void> = this.#changed.event;

  /** @param timeLimit in milliseconds, after which the command is ended. */
  start(previewId: string, timeLimit: number): CommandRun {
    const controller = new AbortController();
    const output = new OutputBuffer();
    let endedBy: EndedBy | undefined;
    const endBy = (who: EndedBy): void => {
      endedBy ??= who;
      controller.abort();
    };
    const timer = setTimeout(() => endBy('timeLimit'), timeLimit);
    const began = performance.now();
    const changed = this.#changed;
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
      end: () => {
        clearTimeout(timer);
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

  /** Ends all of them. Each apply settles once its command has ended. */
  stopAll(): void {
    for (const run of this.#running.values()) run.stop();
  }
}
