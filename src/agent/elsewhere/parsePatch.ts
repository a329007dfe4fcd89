import { parsePatch as parseUnified, type StructuredPatch } from 'diff';
import { TimeSlice } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { decodedMails } from './mails.ts';

/** One hunk of a patch. Each line begins with a space, `+`, `-`, or a backslash for “no newline at end of file”. */
export interface PatchHunk {
  /** The line of the old file, from 1. */
  readonly oldStart: number;
  readonly lines: readonly string[];
}

/** What a patch does to one file. */
export interface PatchedFile {
  readonly kind: 'modify' | 'create' | 'delete' | 'rename' | 'copy';
  /** What the file may be called here before and after, the likeliest name first. */
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly hunks: readonly PatchHunk[];
  readonly isBinary: boolean;
  /** Git's modes in octal digits, if the patch tells them. */
  readonly oldMode?: string;
  readonly newMode?: string;
}

/** A part of a patch that cannot be parsed. */
export interface MalformedPart {
  readonly kind: 'malformed';
  /** The line that it begins with. */
  readonly heading: string;
  readonly message: string;
}

/**
 * Parses a patch in git's format or a plain unified one. A part that is damaged does not hide the others.
 * @returns nothing if the text is not a patch at all.
 */
export async function parsePatch(given: string): Promise<readonly (PatchedFile | MalformedPart)[]> {
  const slice = new TimeSlice();
  const text = decodedMails(given);
  const isConverted = hasCarriageReturns(text);
  const parsed: (PatchedFile | MalformedPart)[] = [];
  const starts = await sectionStarts(text, slice);
  for (const [n, start] of starts.entries()) {
    const section = text.slice(start, starts[n + 1] ?? text.length);
    parsed.push(...parseSection(isConverted ? section.replaceAll('\r\n', '\n') : section));
    await slice.turn();
  }
  return parsed;
}

/** Whether a patch was saved with CRLF throughout. One of a file with CRLF has them in the lines of the file only. */
function hasCarriageReturns(text: string): boolean {
  return /^(?:\+\+\+|diff --git) [^\n]*/m.exec(text)?.[0].endsWith('\r') === true;
}

/** No line of a hunk begins like this, so a patch can be cut here whatever its files contain. */
const SECTION = /\n(?:diff |Index: )/g;
/** How many characters are looked through between two chances for other work to run. */
const CHUNK = 512 * 1024;
/** The longest beginning of a section. */
const OVERLAP = 10;

/** Where sections begin. The first is what comes before the others: the message of a mail, or a whole plain patch. */
async function sectionStarts(text: string, slice: TimeSlice): Promise<readonly number[]> {
  const starts = [0];
  for (let at = 0; at < text.length; at += CHUNK) {
    for (const { index } of text.slice(at, at + CHUNK + OVERLAP).matchAll(SECTION))
      if (index < CHUNK) starts.push(at + index + 1);
    await slice.turn();
  }
  return starts;
}

function parseSection(section: string): readonly (PatchedFile | MalformedPart)[] {
  if (!/^(?:diff |Index: |--- |@@ |Binary files )/m.test(section)) return [];
  const binary = binaryOf(section);
  if (binary) return binary;
  // Git's own binary patches have no hunks that the parser knows.
  const isBinary = /^GIT binary patch\r?$/m.test(section);
  try {
    return filesOf(section).flatMap(patch => fileOf(patch, isBinary, section));
  } catch (error) {
    const [heading = ''] = section.split('\n', 1);
    return [{ kind: 'malformed', heading, message: messageOf(error) }];
  }
}

/** `Binary files a and b differ`, of a plain patch, which names no file otherwise. */
function binaryOf(section: string): readonly PatchedFile[] | undefined {
  if (section.startsWith('diff --git ') || /^@@ /m.test(section)) return undefined;
  const names = /^Binary files (.+) and (.+) differ$/m.exec(section);
  if (!names) return undefined;
  const [, from = '', to = ''] = names;
  return [{ kind: 'modify', from: [from], to: [to], hunks: [], isBinary: true }];
}

/** How many ends of a mail are tried. */
const MAX_ENDS = 8;

/** The files of a section. What follows the last hunk in a mail, from its line `-- `, looks like a removed line to the parser. */
function filesOf(section: string): readonly StructuredPatch[] {
  try {
    return parseUnified(section);
  } catch (error) {
    let end = -1;
    for (let tries = 0; tries < MAX_ENDS; tries++) {
      end = section.indexOf('\n-- \n', end + 1);
      if (end < 0) break;
      try {
        return parseUnified(section.slice(0, end + 1));
      } catch {
        // That line was part of a hunk.
      }
    }
    throw error;
  }
}

/** The time of a file that is not there, in a patch of `diff -N`. */
const EPOCH = /^(?:1970-01-01|1969-12-31) /;

function fileOf(patch: StructuredPatch, hasBinary: boolean, section: string): readonly PatchedFile[] {
  const { hunks, oldMode, newMode, isGit = false } = patch;
  const head = isGit ? headOf(section) : undefined;
  const old = patch.oldFileName ?? head?.from ?? patch.index;
  const now = patch.newFileName ?? head?.to ?? patch.index;
  if (old === undefined || now === undefined) {
    if (isGit) throw new Error('Its names cannot be told apart.');
    return [];
  }
  const isBinary = hasBinary || patch.isBinary === true;
  const isCreated = patch.isCreate === true || old === '/dev/null' || EPOCH.test(patch.oldHeader ?? '');
  const isDeleted = patch.isDelete === true || now === '/dev/null' || EPOCH.test(patch.newHeader ?? '');
  const kind =
    patch.isRename === true
      ? 'rename'
      : patch.isCopy === true
        ? 'copy'
        : isCreated
          ? 'create'
          : isDeleted
            ? 'delete'
            : 'modify';
  if (hunks.length === 0 && !isGit) return [];
  const names = head?.isPlain
    ? { from: [head.from], to: [head.to] }
    : isGit
      ? gitNames(old, now)
      : plainNames(old, now);
  return [
    {
      ...{ kind, ...names, isBinary },
      hunks: hunks.map(({ oldStart, lines }) => ({ oldStart, lines })),
      ...(oldMode === undefined ? {} : { oldMode }),
      ...(newMode === undefined ? {} : { newMode }),
    },
  ];
}

/** The names that the lines above the hunks of a section in git's format tell. */
interface Head {
  readonly from: string;
  readonly to: string;
  /** There are no prefixes in front of them. */
  readonly isPlain: boolean;
}

/** @returns `undefined` where only the names above the hunks are certain */
function headOf(section: string): Head | undefined {
  const [head = ''] = section.split(/^(?:--- |\+\+\+ |@@ )/m, 1);
  const [parsed] = parseUnified(head);
  const { oldFileName: old = '', newFileName: now = '', isRename, isCopy } = parsed ?? {};
  // The parser puts prefixes in front of these, which have none.
  if (isRename === true || isCopy === true)
    return { from: old.slice('a/'.length), to: now.slice('b/'.length), isPlain: true };
  if (old !== '' && old === now) return { from: old, to: now, isPlain: true };
  const names = head.slice('diff --git '.length).split('\n', 1)[0] ?? '';
  for (let at = names.indexOf(' '); at >= 0; at = names.indexOf(' ', at + 1)) {
    const [from, to] = [names.slice(0, at), names.slice(at + 1)];
    if (from === to) return { from, to, isPlain: true };
    if (from.includes('/') && to.includes('/') && withoutFolder(from) === withoutFolder(to))
      return { from, to, isPlain: false };
  }
  return undefined;
}

type Names = Pick<PatchedFile, 'from' | 'to'>;

/** Git's prefixes: `a/` and `b/`, or others that tell which side is what (`diff.mnemonicPrefix`). */
const PREFIX = /^[abciow]\//;

function gitNames(old: string, now: string): Names {
  const bare = (name: string): readonly string[] => {
    if (name === '/dev/null') return [];
    return PREFIX.test(name) ? [name.replace(PREFIX, ''), name] : [name];
  };
  return { from: bare(old), to: bare(now) };
}

/** Plain patches have names as they were typed, often with one folder in front of each: `diff -ru old new`. */
function plainNames(old: string, now: string): Names {
  const hasFolders = old !== now && withoutFolder(old) === withoutFolder(now);
  const both = (name: string): readonly string[] => {
    if (name === '/dev/null') return [];
    const bare = name.replace(/^\.\//, '');
    const inner = withoutFolder(bare);
    if (inner === bare) return [bare];
    return hasFolders || PREFIX.test(bare) ? [inner, bare] : [bare, inner];
  };
  return { from: both(old), to: both(now) };
}

/** A relative name without its first folder. */
function withoutFolder(name: string): string {
  return name.startsWith('/') ? name : name.slice(name.indexOf('/') + 1);
}
