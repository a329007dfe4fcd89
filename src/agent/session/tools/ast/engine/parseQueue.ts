import type { Buffer } from 'node:buffer';
import * as fs from 'node:fs';
import { orUndefined } from '../../../../base/errors.ts';
import { sideOfBytes, type TextSide } from '../../../../hold/preview/fileChange.ts';
import type { FoundFile } from '../scope/walk.ts';
import type { SentFile } from '../worker/protocol.ts';
import { freeUnusedTrees, type AstGrepNapi } from './astGrepNapi.ts';
import { combineFindings, findingOf, type OpFinding } from './findings.ts';
import type { CompiledOp, LanguagePatterns } from './patternCompiler.ts';

/** The most files that the engine parses in one call. */
const CHUNK = 96;
/** The most bytes of one call, since trees take about 24 times as much; a single file may be larger. */
const CHUNK_BYTES = 1024 * 1024;
/** The most calls at a time. */
const IN_FLIGHT = 2;

/** A file on disk that passed the filters of at least one pattern. */
export interface Candidate extends FoundFile {
  /** Its time and size when it passed. */
  readonly stamp: fs.Stats;
  readonly patterns: LanguagePatterns;
  /** The patterns whose filters it passed. */
  readonly ops: readonly CompiledOp[];
}

interface QueuedFile extends Candidate {
  readonly findings: OpFinding[];
  /** The number of patterns still to be searched for in it. */
  opsLeft: number;
  side?: TextSide;
  syntaxErrors: boolean;
  /** Its time or size is no longer that of its stamp. */
  changed: boolean;
}

export interface ParseQueueOptions {
  readonly napi: AstGrepNapi;
  readonly signal: AbortSignal;
  /** The bytes of a file, valid until the next call; `undefined` when it cannot be read. */
  readonly read: (file: string) => Buffer | undefined;
  /** A file is finished: its findings, `null` for none. */
  readonly onParsed: (candidate: Candidate, result: SentFile | null) => void;
  /** A file changed on disk after it was queued, so the findings in it are void. */
  readonly onChanged: (candidate: Candidate) => void;
}

/** Candidates on their way through the engine's thread pool, which takes them in chunks. */
export class ParseQueue {
  readonly #options: ParseQueueOptions;
  readonly #waiting: QueuedFile[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  #failure: Error | undefined;

  constructor(options: ParseQueueOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#inFlight.size === 0;
  }

  /** Why a chunk failed, if one did. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  add(candidate: Candidate): void {
    const opsLeft = candidate.ops.length;
    this.#waiting.push({ ...candidate, findings: [], opsLeft, syntaxErrors: false, changed: false });
  }

  /**
   * Starts as many chunks as may run at a time, while at least `least` files wait. By default these are full chunks,
   * unless the engine has nothing else to do.
   */
  launch(least = this.#inFlight.size === 0 ? 1 : CHUNK): void {
    while (this.#inFlight.size < IN_FLIGHT && this.#waiting.length >= least && this.#waiting.length > 0) {
      const chunk = this.#waiting.splice(0, this.#chunkLength());
      const work = this.#parse(chunk).catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      });
      const tracked = work.finally(() => this.#inFlight.delete(tracked));
      this.#inFlight.add(tracked);
    }
  }

  /** Settles when one of the running chunks ends. Never rejects: see {@link failure}. */
  async nextChunk(): Promise<void> {
    await Promise.race(this.#inFlight);
  }

  /** Settles when all running chunks have ended. Never rejects. */
  async settled(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  #chunkLength(): number {
    let bytes = 0;
    const first = this.#waiting.slice(0, CHUNK);
    const end = first.findIndex(({ stamp }, at) => (bytes += stamp.size) > CHUNK_BYTES && at > 0);
    return end < 0 ? first.length : end;
  }

  async #parse(chunk: readonly QueuedFile[]): Promise<void> {
    const { napi, signal } = this.#options;
    const byFile = new Map(chunk.map(queued => [queued.file, queued]));
    const groups = new Map<string, { op: CompiledOp; language: string; queued: QueuedFile[] }>();
    for (const queued of chunk) {
      for (const op of queued.ops) {
        const language = queued.patterns.language.id;
        const key = `${language}:${op.index}`;
        const group = groups.get(key) ?? { op, language, queued: [] };
        groups.set(key, group);
        group.queued.push(queued);
      }
    }
    await Promise.all(
      [...groups.values()].map(async ({ op, language, queued: files }) => {
        const withoutMatch = new Set(files);
        const paths = files.map(queued => queued.file);
        await napi.findInFiles(language, paths, op, (nodes, hasErrors) => {
          const root = nodes[0]?.getRoot();
          const queued = root && byFile.get(root.filename());
          if (!queued || signal.aborted) return;
          withoutMatch.delete(queued);
          const source = this.#sourceOf(queued);
          if (source) {
            queued.findings.push(findingOf(napi, op, nodes, source.side.text, source.offset));
            queued.syntaxErrors ||= hasErrors;
          }
          if (--queued.opsLeft === 0) this.#finish(queued);
        });
        for (const queued of withoutMatch) if (--queued.opsLeft === 0) this.#finish(queued);
      }),
    );
    await freeUnusedTrees();
  }

  /** The text that a file was parsed from; `undefined`, and marked as changed, when the file is no longer the same. */
  #sourceOf(queued: QueuedFile): { side: TextSide; offset: number } | undefined {
    if (queued.changed) return undefined;
    if (!queued.side) {
      const bytes = this.#options.read(queued.file);
      const stamp = orUndefined(() => fs.statSync(queued.file));
      const same = stamp?.mtimeMs === queued.stamp.mtimeMs && stamp.size === queued.stamp.size;
      const side = bytes && same ? sideOfBytes(bytes) : undefined;
      if (!side) {
        queued.changed = true;
        return undefined;
      }
      queued.side = side;
    }
    // The engine counts a byte order mark as a character.
    return { side: queued.side, offset: queued.side.encoding.bom ? -1 : 0 };
  }

  #finish(queued: QueuedFile): void {
    const { changed, side, syntaxErrors } = queued;
    // They refer to nodes, and so to the whole tree, which is freed once the chunk has ended.
    const findings = queued.findings.splice(0);
    if (changed) return this.#options.onChanged(queued);
    delete queued.side;
    const result = side
      ? combineFindings(this.#options.napi, queued.patterns, queued.path, side, findings, syntaxErrors)
      : null;
    this.#options.onParsed(queued, result);
  }
}
