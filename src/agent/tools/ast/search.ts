import { Buffer, isUtf8 } from 'node:buffer';
import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { abortErrorOf } from '../../base/abort.ts';
import { sideOfBytes, type FileSide } from '../../preview/fileChange.ts';
import { freeTrees } from './freeTrees.ts';
import { languageOf } from './languages.ts';
import { Plans, type CompiledOp, type Plan } from './plan.ts';
import { AstError, type AstProgress, type AstRequest, type AstSummary, type SentFile } from './protocol.ts';
import { ResultCache, type SearchResults } from './resultCache.ts';
import type { Structure } from './structure.ts';
import { fileOf, findingOf, searchBytes, type OpFinding } from './textSearch.ts';
import { findFiles, selects, type FoundFile } from './walk.ts';

/** Files over this size are passed over, as everywhere in the workspace. */
const MAX_BYTES = 5 * 1024 * 1024;
/** Files that the engine parses with one call. */
const CHUNK = 96;
/** And bytes: trees take about 24 times as much. One file goes in any case. */
const CHUNK_BYTES = 1024 * 1024;
const IN_FLIGHT = 2;
/** So that something shows early, the first files are parsed right here, as long as they are small and nothing was found. */
const EARLY_FILES = 12;
const EARLY_BYTES = 32 * 1024;
/** How long files are read before finished ones get their turn, in milliseconds. */
const SLICE = 8;

/** Where a search hands its results. */
export interface SearchOutput {
  file(file: SentFile, progress: AstProgress): void;
  /** Settles when there is room for more. */
  drained(): Promise<void>;
}

/** A file that passed the filters. */
interface Candidate extends FoundFile {
  readonly stamp: fs.Stats;
  readonly plan: Plan;
  readonly ops: readonly CompiledOp[];
  readonly findings: OpFinding[];
  /** Patterns that are still looked for in it. */
  left: number;
  side?: FileSide;
  syntaxErrors: boolean;
  /** It is not what it was when it passed the filters. */
  changed: boolean;
}

/** Runs searches. Lives where blocking does not matter: files are read synchronously, in slices. */
export class AstSearch {
  readonly #structure: Structure;
  readonly #cache = new ResultCache();

  constructor(structure: Structure) {
    this.#structure = structure;
  }

  /**
   * Searches all files that the request selects.
   * @throws AstError when a pattern is valid in no language at hand or replacements overlap; the abort error.
   */
  async run(request: AstRequest, output: SearchOutput, signal: AbortSignal): Promise<AstSummary> {
    await this.#structure.load();
    return new Run(this.#structure, this.#cache.for(request.ops), request, output, signal).run();
  }
}

class Run {
  readonly #structure: Structure;
  readonly #results: SearchResults;
  readonly #request: AstRequest;
  readonly #output: SearchOutput;
  readonly #signal: AbortSignal;
  readonly #plans: Plans;
  readonly #buffer = Buffer.allocUnsafeSlow(MAX_BYTES);
  readonly #waiting: Candidate[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  readonly #unknown = new Set<string>();
  readonly #tooLarge: string[] = [];
  readonly #notText: string[] = [];
  #early = 0;
  #selected = 0;
  #searched = 0;
  #files = 0;
  #matches = 0;
  #failure: Error | undefined;

  constructor(
    structure: Structure,
    results: SearchResults,
    request: AstRequest,
    output: SearchOutput,
    signal: AbortSignal,
  ) {
    this.#structure = structure;
    this.#results = results;
    this.#request = request;
    this.#output = output;
    this.#signal = signal;
    this.#plans = new Plans(structure, request.ops);
  }

  async run(): Promise<AstSummary> {
    try {
      await this.#readAll();
      while (this.#waiting.length > 0 || this.#inFlight.size > 0) {
        this.#launch(1);
        await Promise.race(this.#inFlight);
        this.#check();
        await this.#output.drained();
      }
      this.#check();
    } finally {
      await Promise.all(this.#inFlight);
    }
    this.#refuseInvalid();
    return this.#summary();
  }

  async #readAll(): Promise<void> {
    const seen = new Map(this.#request.seen.map(file => [file.path, file.bytes]));
    let sliceEnd = performance.now() + SLICE;
    for await (const batch of findFiles(this.#request.roots)) {
      for (const found of batch) {
        const bytes = seen.get(found.path);
        seen.delete(found.path);
        if (bytes === undefined) this.#take(found);
        else if (bytes !== null) this.#takeSeen(found.path, bytes);
        if (performance.now() < sliceEnd) continue;
        this.#launch(this.#inFlight.size === 0 ? 1 : CHUNK);
        await setImmediate();
        await this.#output.drained();
        this.#check();
        sliceEnd = performance.now() + SLICE;
      }
    }
    for (const [path, bytes] of seen) if (bytes && this.#isSelected(path)) this.#takeSeen(path, bytes);
  }

  /** Looks at a file on disk: known from before, without a match for sure, or waiting to be parsed. */
  #take(found: FoundFile): void {
    const plan = this.#planFor(found.path);
    if (!plan) return;
    const stamp = fs.statSync(found.file, { throwIfNoEntry: false });
    if (!stamp) return;
    const known = this.#results.get(found.file, stamp);
    if (known) this.#emit(known.path === found.path ? known : { ...known, path: found.path });
    if (known !== undefined) return;
    if (stamp.size > MAX_BYTES) return void this.#tooLarge.push(found.path);
    const bytes = this.#read(found.file);
    if (!bytes || bytes.length === 0) return;
    if (plan.inner.length > 0 || isUtf16(bytes)) return this.#parseHere(found, stamp, plan, bytes);
    const ops = plan.ops.filter(op => op.mayMatch(bytes));
    if (ops.length === 0) return this.#results.set(found.file, stamp, null);
    if (!isUtf8(bytes)) return void this.#notText.push(found.path);
    if (this.#files === 0 && this.#early < EARLY_FILES && bytes.length <= EARLY_BYTES) {
      this.#early++;
      return this.#parseHere(found, stamp, plan, bytes);
    }
    this.#waiting.push({
      ...found,
      stamp,
      plan,
      ops,
      findings: [],
      left: ops.length,
      syntaxErrors: false,
      changed: false,
    });
  }

  #parseHere({ file, path }: FoundFile, stamp: fs.Stats, plan: Plan, bytes: Buffer): void {
    const result = this.#searchBytes(plan, path, Buffer.from(bytes));
    if (result !== undefined) this.#results.set(file, stamp, result);
  }

  #takeSeen(path: string, bytes: Uint8Array): void {
    const plan = this.#planFor(path);
    if (plan) this.#searchBytes(plan, path, bytes);
  }

  #searchBytes(plan: Plan, path: string, bytes: Uint8Array): SentFile | null | undefined {
    const result = searchBytes(this.#structure, plan, path, bytes);
    if (result) this.#emit(result);
    if (result === undefined) this.#notText.push(path);
    return result;
  }

  #planFor(path: string): Plan | undefined {
    this.#selected++;
    const language = languageOf(path);
    if (!language || !this.#structure.supports(language.id)) {
      this.#unknown.add(/\.[^./]+$/.exec(path)?.[0] ?? path.slice(path.lastIndexOf('/') + 1));
      return undefined;
    }
    const plan = this.#plans.for(language);
    if (plan.ops.length === 0 && plan.inner.every(inner => inner.ops.length === 0)) return undefined;
    this.#searched++;
    return plan;
  }

  /** The bytes of a file, valid until the next is read. */
  #read(file: string): Buffer | undefined {
    let handle: number | undefined;
    try {
      handle = fs.openSync(file, 'r');
      return this.#buffer.subarray(0, fs.readSync(handle, this.#buffer, 0, MAX_BYTES, 0));
    } catch {
      return undefined;
    } finally {
      if (handle !== undefined) fs.closeSync(handle);
    }
  }

  /** Hands waiting files to the engine, as long as at least `least` wait. */
  #launch(least: number): void {
    while (this.#inFlight.size < IN_FLIGHT && this.#waiting.length >= least && this.#waiting.length > 0) {
      const chunk = this.#waiting.splice(0, this.#chunkLength());
      const work = this.#parse(chunk).catch((error: unknown) => {
        this.#failure ??= error instanceof Error ? error : new Error(String(error));
      });
      const tracked = work.finally(() => this.#inFlight.delete(tracked));
      this.#inFlight.add(tracked);
    }
  }

  #chunkLength(): number {
    let bytes = 0;
    const first = this.#waiting.slice(0, CHUNK);
    const end = first.findIndex(({ stamp }, at) => (bytes += stamp.size) > CHUNK_BYTES && at > 0);
    return end < 0 ? first.length : end;
  }

  async #parse(chunk: readonly Candidate[]): Promise<void> {
    const byFile = new Map(chunk.map(candidate => [candidate.file, candidate]));
    const groups = new Map<string, { op: CompiledOp; language: string; candidates: Candidate[] }>();
    for (const candidate of chunk) {
      for (const op of candidate.ops) {
        const language = candidate.plan.language.id;
        const key = `${language}:${op.index}`;
        const group = groups.get(key) ?? { op, language, candidates: [] };
        groups.set(key, group);
        group.candidates.push(candidate);
      }
    }
    await Promise.all(
      [...groups.values()].map(async ({ op, language, candidates }) => {
        const without = new Set(candidates);
        const paths = candidates.map(candidate => candidate.file);
        await this.#structure.findInFiles(language, paths, op, (nodes, hasErrors) => {
          const root = nodes[0]?.getRoot();
          const candidate = root && byFile.get(root.filename());
          if (!candidate || this.#signal.aborted) return;
          without.delete(candidate);
          const source = this.#sourceOf(candidate);
          if (source) {
            candidate.findings.push(findingOf(op, nodes, source.side.text, source.offset));
            candidate.syntaxErrors ||= hasErrors;
          }
          if (--candidate.left === 0) this.#finish(candidate);
        });
        for (const candidate of without) if (--candidate.left === 0) this.#finish(candidate);
      }),
    );
    await freeTrees();
  }

  /** The text that a candidate was parsed from; `undefined` once it turns out to be another one now. */
  #sourceOf(candidate: Candidate): { side: FileSide; offset: number } | undefined {
    if (candidate.changed) return undefined;
    if (!candidate.side) {
      const bytes = this.#read(candidate.file);
      const stamp = fs.statSync(candidate.file, { throwIfNoEntry: false });
      const same = stamp?.mtimeMs === candidate.stamp.mtimeMs && stamp.size === candidate.stamp.size;
      const side = bytes && same ? sideOfBytes(bytes) : undefined;
      if (!side) {
        candidate.changed = true;
        return undefined;
      }
      candidate.side = side;
    }
    // The engine counts a byte order mark as a character.
    return { side: candidate.side, offset: candidate.side.encoding.bom ? -1 : 0 };
  }

  #finish(candidate: Candidate): void {
    if (candidate.changed) {
      const bytes = this.#read(candidate.file);
      if (bytes) this.#searchBytes(candidate.plan, candidate.path, Buffer.from(bytes));
      return;
    }
    const { side, findings, syntaxErrors } = candidate;
    const result = side ? fileOf(candidate.path, side, findings, syntaxErrors) : null;
    delete candidate.side;
    this.#results.set(candidate.file, candidate.stamp, result);
    if (result) this.#emit(result);
  }

  #emit(file: SentFile): void {
    this.#files++;
    this.#matches += file.matches;
    this.#output.file(file, { selected: this.#selected, files: this.#files, matches: this.#matches });
  }

  #isSelected(path: string): boolean {
    return this.#request.roots.some(
      root => path.startsWith(root.prefix) && selects(root, path.slice(root.prefix.length)),
    );
  }

  #check(): void {
    if (this.#signal.aborted) throw abortErrorOf(this.#signal);
    if (this.#failure) throw this.#failure;
  }

  #refuseInvalid(): void {
    const [op] = this.#plans.invalidEverywhere;
    if (op === undefined) return;
    const reasons = this.#plans.invalid.filter(found => found.op === op);
    throw new AstError({
      code: 'invalidPattern',
      op,
      reasons: [...new Set(reasons.map(({ language, reason }) => `as ${language}, ${reason}`))],
    });
  }

  #summary(): AstSummary {
    return {
      selected: this.#selected,
      searched: this.#searched,
      unknownExtensions: [...this.#unknown].sort(),
      invalid: this.#plans.invalid.map(({ op, language, reason }) => ({
        pat: this.#request.ops[op]?.pat ?? '',
        language,
        reason,
      })),
      tooLarge: this.#tooLarge,
      notText: this.#notText,
    };
  }
}

function isUtf16(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
