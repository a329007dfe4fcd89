import { Buffer, isUtf8 } from 'node:buffer';
import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { abortErrorOf } from '../../../../base/async.ts';
import { orUndefined } from '../../../../base/errors.ts';
import { fileIdOf } from '../../../../base/system/realPath.ts';
import { findFiles, selectorOf, type FoundFile } from '../scope/walk.ts';
import {
  AstError,
  type AstRequest,
  type AstSummary,
  type SentFile,
  type UnsavedFile,
} from '../worker/protocol.ts';
import type { AstGrepNapi } from './astGrepNapi.ts';
import { searchBytes } from './findings.ts';
import { languageOf } from './languages.ts';
import { ParseQueue } from './parseQueue.ts';
import { PatternCompiler, type LanguagePatterns } from './patternCompiler.ts';
import { ResultCache, type SearchResults } from './resultCache.ts';

/** Larger files are not searched: the limit that holds everywhere in the workspace. */
const MAX_BYTES = 5 * 1024 * 1024;
/** So that something shows early, the first small files are parsed right here until a match is found. */
const EARLY_FILES = 12;
const EARLY_BYTES = 32 * 1024;
/** How long files are read in one go before anything else may run, in milliseconds. */
const SLICE_MS = 8;

/** The receiver of a search's results. */
export interface SearchOutput {
  file(file: SentFile): void;
  /** Settles when there is room for more. */
  drained(): Promise<void>;
}

/** Runs searches. Meant for a worker thread, as files are read synchronously, in slices. */
export class AstSearch {
  readonly #napi: AstGrepNapi;
  readonly #cache = new ResultCache();

  constructor(napi: AstGrepNapi) {
    this.#napi = napi;
  }

  /**
   * Searches all files that the request selects.
   * @throws AstError when a pattern is valid in none of the languages found, a rewrite uses variables that its pattern does not
   *   bind, or replacements overlap; the abort error.
   */
  async run(request: AstRequest, output: SearchOutput, signal: AbortSignal): Promise<AstSummary> {
    await this.#napi.load();
    return new SearchRun(this.#napi, this.#cache.for(request.ops), request, output, signal).run();
  }
}

class SearchRun {
  readonly #napi: AstGrepNapi;
  readonly #results: SearchResults;
  readonly #request: AstRequest;
  readonly #output: SearchOutput;
  readonly #signal: AbortSignal;
  readonly #compiler: PatternCompiler;
  readonly #queue: ParseQueue;
  readonly #buffer = Buffer.allocUnsafeSlow(MAX_BYTES);
  readonly #unknown = new Set<string>();
  readonly #tooLarge: string[] = [];
  readonly #notText: string[] = [];
  #early = 0;
  #selected = 0;
  #searched = 0;
  #files = 0;
  readonly #matched = new Set<number>();

  constructor(
    napi: AstGrepNapi,
    results: SearchResults,
    request: AstRequest,
    output: SearchOutput,
    signal: AbortSignal,
  ) {
    this.#napi = napi;
    this.#results = results;
    this.#request = request;
    this.#output = output;
    this.#signal = signal;
    this.#compiler = new PatternCompiler(napi, request.ops);
    this.#queue = new ParseQueue({
      napi,
      signal,
      read: file => this.#read(file),
      onParsed: ({ file, stamp }, result) => {
        this.#results.set(file, stamp, result);
        if (result) this.#emit(result);
      },
      onChanged: ({ file, path, patterns }) => {
        const bytes = this.#read(file);
        if (bytes) this.#searchBytes(patterns, path, Buffer.from(bytes));
      },
    });
  }

  async run(): Promise<AstSummary> {
    try {
      await this.#readAll();
      while (!this.#queue.isEmpty) {
        this.#queue.launch(1);
        await this.#queue.nextChunk();
        this.#throwIfStopped();
        await this.#output.drained();
      }
      this.#throwIfStopped();
    } finally {
      await this.#queue.settled();
    }
    this.#refuseInvalid();
    const unbound = this.#compiler.unboundEverywhere;
    if (unbound) throw new AstError({ code: 'unbound', ...unbound });
    return this.#summary();
  }

  async #readAll(): Promise<void> {
    const inMemory = new Map(this.#request.inMemory.map(file => [file.path, file.bytes]));
    const unsavedAt = unsavedReader(this.#request.unsaved ?? []);
    let sliceEnd = performance.now() + SLICE_MS;
    for await (const batch of findFiles(this.#request.roots)) {
      for (const found of batch) {
        const seen = inMemory.get(found.path);
        const bytes = seen === undefined ? unsavedAt(found.file) : seen;
        inMemory.delete(found.path);
        if (bytes === undefined) this.#takeFile(found);
        else if (bytes !== null) this.#takeInMemory(found.path, bytes);
        if (performance.now() < sliceEnd) continue;
        this.#queue.launch();
        await setImmediate();
        await this.#output.drained();
        this.#throwIfStopped();
        sliceEnd = performance.now() + SLICE_MS;
      }
    }
    const isSelected = await selectorOf(inMemory.size > 0 ? this.#request.roots : []);
    for (const [path, bytes] of inMemory) if (bytes && isSelected(path)) this.#takeInMemory(path, bytes);
  }

  /** Takes a file on disk: its result is known from an earlier search, or it cannot match, or it is parsed. */
  #takeFile(found: FoundFile): void {
    const patterns = this.#patternsFor(found.path);
    if (!patterns) return;
    const stamp = orUndefined(() => fs.statSync(found.file));
    if (!stamp) return;
    const known = this.#results.get(found.file, stamp);
    if (known) this.#emit(known.path === found.path ? known : { ...known, path: found.path });
    if (known !== undefined) return;
    if (stamp.size > MAX_BYTES) return void this.#tooLarge.push(found.path);
    const bytes = this.#read(found.file);
    if (!bytes || bytes.length === 0) return;
    if (patterns.embedded.length > 0 || isUtf16(bytes)) return this.#parseHere(found, stamp, patterns, bytes);
    const ops = patterns.ops.filter(op => op.mayMatch(bytes));
    if (ops.length === 0) return this.#results.set(found.file, stamp, null);
    if (!isUtf8(bytes)) return void this.#notText.push(found.path);
    if (this.#files === 0 && this.#early < EARLY_FILES && bytes.length <= EARLY_BYTES) {
      this.#early++;
      return this.#parseHere(found, stamp, patterns, bytes);
    }
    this.#queue.add({ ...found, stamp, patterns, ops });
  }

  #parseHere({ file, path }: FoundFile, stamp: fs.Stats, patterns: LanguagePatterns, bytes: Buffer): void {
    const result = this.#searchBytes(patterns, path, Buffer.from(bytes));
    if (result !== undefined) this.#results.set(file, stamp, result);
  }

  #takeInMemory(path: string, bytes: Uint8Array): void {
    const patterns = this.#patternsFor(path);
    if (patterns) this.#searchBytes(patterns, path, bytes);
  }

  #searchBytes(patterns: LanguagePatterns, path: string, bytes: Uint8Array): SentFile | null | undefined {
    const result = searchBytes(this.#napi, patterns, path, bytes);
    if (result) this.#emit(result);
    if (result === undefined) this.#notText.push(path);
    return result;
  }

  /** Counts a selected file; `undefined` when no pattern can match in its language. */
  #patternsFor(path: string): LanguagePatterns | undefined {
    this.#selected++;
    const language = languageOf(path);
    if (!language || !this.#napi.supports(language.id)) {
      this.#unknown.add(/\.[^./]+$/.exec(path)?.[0] ?? path.slice(path.lastIndexOf('/') + 1));
      return undefined;
    }
    const patterns = this.#compiler.patternsFor(language);
    if (patterns.ops.length === 0 && patterns.embedded.every(({ ops }) => ops.length === 0)) return undefined;
    this.#searched++;
    return patterns;
  }

  /** The bytes of a file, valid until the next one is read. */
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

  #emit(file: SentFile): void {
    this.#files++;
    for (const op of file.ops) this.#matched.add(op);
    this.#output.file(file);
  }

  #throwIfStopped(): void {
    if (this.#signal.aborted) throw abortErrorOf(this.#signal);
    if (this.#queue.failure) throw this.#queue.failure;
  }

  #refuseInvalid(): void {
    const [op] = this.#compiler.invalidEverywhere;
    if (op === undefined) return;
    const reasons = this.#compiler.invalid.filter(found => found.op === op);
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
      invalid: this.#compiler.invalid.map(({ op, language, reason }) => ({
        pat: this.#request.ops[op]?.pat ?? '',
        language,
        reason,
      })),
      unmatched: this.#request.ops.flatMap(({ pat }, op) =>
        this.#matched.has(op) ? [] : this.#compiler.kindsOf(op).map(read => ({ pat, ...read })),
      ),
      tooLarge: this.#tooLarge,
      notText: this.#notText,
    };
  }
}

/** Returns a function that gives an editor's unsaved content of a file, by any of its names; `undefined` if there is none. */
function unsavedReader(unsaved: readonly UnsavedFile[]): (file: string) => Uint8Array | null | undefined {
  if (unsaved.length === 0) return () => undefined;
  const byId = new Map(unsaved.map(({ id, bytes }) => [id, bytes]));
  return file => {
    const stamp = orUndefined(() => fs.statSync(file, { bigint: true }));
    return stamp && byId.get(fileIdOf(stamp) ?? '');
  };
}

function isUtf16(bytes: Buffer): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
