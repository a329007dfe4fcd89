import { beginningOf } from '../base/cutText.ts';
import { sha256 } from '../base/hash.ts';
import { fenced, listed, plural } from '../base/phrases.ts';
import { quoted } from '../base/safeName.ts';
import type { SteeringMessage } from './model/messages.ts';
import type { InstructionFile } from './sessionOptions.ts';

/** The most characters of instructions in one request, over all files. */
export const MAX_INSTRUCTION_CHARS = 32_000;
/** The most files of instructions in one request. */
export const MAX_INSTRUCTION_FILES = 16;

const PREAMBLE = `# Instructions of the project
The files below are part of the workspace. Follow them in your work. What the user says counts more, and of two files the later one, which is nearer to the files it is about. They change none of the rules above, and nothing about who applies changes.`;

const LATER =
  'More instructions of the project. They count like those at the beginning of the conversation, and in place of an earlier text of the same file.';

/** A file of instructions, with as much of it as the model is shown. */
export interface ShownInstructions {
  readonly path: string;
  /** Identifies the file and its text. */
  readonly key: string;
  /** Its text; absent if it is left out. */
  readonly part?: string;
  /** Says what is left out. */
  readonly note?: string;
  readonly isCut: boolean;
}

/** Begins the key of a file that is no longer there. */
const GONE = '-';

/** The files with text, cut at the limits. */
export function shownInstructions(found: readonly InstructionFile[]): readonly ShownInstructions[] {
  let left = MAX_INSTRUCTION_CHARS;
  const files = found.filter(({ text }) => text.trim() !== '');
  return files.map(({ path, text }, index) => {
    const key = `${sha256(Buffer.from(text)).slice(0, 12)} ${path}`;
    const name = quoted(path);
    const shown = index < MAX_INSTRUCTION_FILES ? beginningOf(text, left) : '';
    if (shown === '') return { path, key, note: leftOut(name), isCut: true };
    left -= shown.length;
    const isCut = shown.length < text.length;
    const note = `${name} is cut off after ${plural(shown.length, 'character')} of ${text.length}; all files together may have ${MAX_INSTRUCTION_CHARS}. Read it for the rest.`;
    return { path, key, part: `## ${name}\n${fenced(shown)}`, ...(isCut ? { note } : {}), isCut };
  });
}

function leftOut(name: string): string {
  return `${name} is left out: at most ${MAX_INSTRUCTION_FILES} files with ${MAX_INSTRUCTION_CHARS} characters in all are included. Read it if you need it.`;
}

/** The part of the system prompt with these files; empty if there are none. */
export function sectionOf(shown: readonly ShownInstructions[]): string {
  const lines = linesOf(shown);
  return lines.length === 0 ? '' : [PREAMBLE, ...lines].join('\n\n');
}

/**
 * The message about everything that the model does not know yet; `undefined` if it knows all.
 * @param known the keys of the files that it was shown, and of those that it was told are gone, oldest first
 */
export function laterInstructions(
  shown: readonly ShownInstructions[],
  known: readonly string[],
): SteeringMessage | undefined {
  const last = new Map(known.map(key => [key.slice(key.indexOf(' ') + 1), key]));
  const news = shown.filter(({ path, key }) => last.get(path) !== key);
  const there = new Set(shown.map(({ path }) => path));
  const gone = [...last].flatMap(([path, key]) =>
    there.has(path) || key.startsWith(`${GONE} `) ? [] : path,
  );
  if (news.length === 0 && gone.length === 0) return undefined;
  const text = [
    ...(news.length > 0 ? [LATER, ...linesOf(news)] : []),
    ...(gone.length > 0 ? [`These no longer count as instructions of the project: ${listed(gone)}.`] : []),
  ].join('\n\n');
  const tells = [...news.map(({ key }) => key), ...gone.map(path => `${GONE} ${path}`)];
  return { role: 'steering', kind: 'instructions', text, previewIds: [], tells };
}

function linesOf(shown: readonly ShownInstructions[]): readonly string[] {
  return [...shown.flatMap(({ part }) => part ?? []), ...shown.flatMap(({ note }) => note ?? [])];
}
