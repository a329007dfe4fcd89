import { TimeSlice } from '../../../base/async.ts';
import { messageOf } from '../../../base/errors.ts';
import { hasCodexPatch, parseCodexPatch } from './codexPatch.ts';
import { takeGitFile } from './gitSection.ts';
import { decodedMails } from './mails.ts';
import { nameAndNote, nameIn } from './patchNames.ts';
import { PatchLines, type PatchedFile, type PatchPart } from './patchParts.ts';

/**
 * Parses a patch in git's format, in the plain unified one, or in that of Codex. A damaged part does not hide the others.
 * @returns nothing if the text is not a patch at all.
 */
export async function parsePatch(given: string): Promise<readonly PatchPart[]> {
  if (hasCodexPatch(given)) return parseCodexPatch(given);
  const slice = new TimeSlice();
  const text = decodedMails(given);
  const isConverted = hasCarriageReturns(text);
  const parsed: PatchPart[] = [];
  const starts = await sectionStarts(text, slice);
  let isFirst = false;
  for (const [n, start] of starts.entries()) {
    const found = text.slice(start, starts[n + 1] ?? text.length);
    const section = isConverted ? found.replaceAll('\r\n', '\n') : found;
    for (const part of parseSection(section)) {
      parsed.push(isFirst && part.kind !== 'unusable' ? { ...part, isFirst } : part);
      isFirst &&= part.kind === 'unusable';
    }
    // Text before the first section stands above that section's own diff.
    isFirst ||= COMMIT.test(section);
    await slice.turn();
  }
  return parsed;
}

/**
 * Start of the text above another commit's diff: in a mailbox, and as `git show` and `hg export` print it. No line of a hunk is
 * like this.
 */
const COMMIT = /^(?:From [\da-f]{4,} |commit [\da-f]{7,}|# HG changeset patch)/m;

/** Whether the whole patch was saved with CRLF. A patch of a file with CRLF has CRLF only in the lines of the file. */
function hasCarriageReturns(text: string): boolean {
  return /^(?:\+\+\+|diff --git) [^\n]*/m.exec(text)?.[0].endsWith('\r') === true;
}

/** No line of a hunk begins like this, so a patch can be cut here no matter what its files contain. */
const SECTION = /\n(?:diff |Index: )/g;
/** How many characters are scanned before other work gets a chance to run. */
const CHUNK = 512 * 1024;
/** Longer than any match of {@link SECTION}, in characters. */
const OVERLAP = 10;

/** Offsets at which sections begin. The first section is the text before the others: an email's text, or a whole plain patch. */
async function sectionStarts(text: string, slice: TimeSlice): Promise<readonly number[]> {
  const starts = [0];
  for (let at = 0; at < text.length; at += CHUNK) {
    for (const { index } of text.slice(at, at + CHUNK + OVERLAP).matchAll(SECTION))
      if (index < CHUNK) starts.push(at + index + 1);
    await slice.turn();
  }
  return starts;
}

function parseSection(section: string): readonly PatchPart[] {
  const combined = /^diff --(?:cc|combined) (.*)/.exec(section);
  if (combined) return [{ kind: 'unusable', heading: nameIn(combined[1] ?? ''), why: 'combined' }];
  if (!/^(?:diff |Index: |--- |@@ |Binary files )/m.test(section)) return [];
  const parts: PatchPart[] = [];
  try {
    const lines = new PatchLines(section);
    if (section.startsWith('diff --git ')) parts.push(takeGitFile(lines));
    for (let part = takePlainFile(lines); part; part = takePlainFile(lines)) parts.push(part);
  } catch (error) {
    const [heading = ''] = section.split('\n', 1);
    parts.push({ kind: 'unusable', heading, why: 'malformed', message: messageOf(error) });
  }
  return parts;
}

/** Takes the next file of a plain patch, and skips the text between files. */
function takePlainFile(lines: PatchLines): PatchedFile | undefined {
  for (let line = lines.peek(); line !== undefined; line = lines.peek()) {
    if (line.startsWith('--- ') && lines.peek(1)?.startsWith('+++ ') === true) {
      const file = plainFile(nameAndNote(lines.take()), nameAndNote(lines.take()), lines);
      if (file.hunks.length > 0) return file;
    } else if (line.startsWith('@@ -')) throw new Error('It does not name its file.');
    else {
      const [, from, to] = /^Binary files (.+) and (.+) differ$/.exec(lines.take()) ?? [];
      if (from !== undefined && to !== undefined)
        return { kind: 'modify', from: [from], to: [to], hunks: [], isBinary: true };
    }
  }
  return undefined;
}

/** Marker of `diff -N` and Subversion for a missing file, in place of the time. */
const NOT_THERE = /^(?:(?:1970-01-01|1969-12-31) |\((?:nonexistent|revision 0)\)$)/;

function plainFile(
  [old, oldNote]: ReturnType<typeof nameAndNote>,
  [now, nowNote]: ReturnType<typeof nameAndNote>,
  lines: PatchLines,
): PatchedFile {
  const isCreated = old === '/dev/null' || NOT_THERE.test(oldNote);
  const isDeleted = now === '/dev/null' || NOT_THERE.test(nowNote);
  const kind = isCreated ? 'create' : isDeleted ? 'delete' : 'modify';
  return { kind, ...plainNames(old, now), hunks: lines.hunks(), isBinary: false };
}

/** One-letter folder in front of names, as git writes them: `a/` and `b/`, or as `diff.mnemonicPrefix` says. */
const PREFIX = /^[abciow]\//;

/** Plain patches keep names as they were typed, often with one folder in front of each: `diff -ru old new`. */
function plainNames(old: string, now: string): Pick<PatchedFile, 'from' | 'to'> {
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
