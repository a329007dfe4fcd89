import { sha256 } from '../../base/hash.ts';
import { diffLines } from '../../text/lineDiff.ts';
import { splitLines } from '../../text/lines.ts';
import { applyTextEdits, type TextEdit } from '../../text/textEdit.ts';
import { addedSince, type AddedEntry, type FileRecord } from './added.ts';
import { holds, isPresent, type ConfigEntry, type ConfigValue } from './entries.ts';
import { jsonWith, jsonWithout, parseJson } from './jsonConfig.ts';
import { serverOf, type ConfigFile } from './knownAgents.ts';
import { hasParagraph, withoutParagraph, withParagraph } from './paragraph.ts';
import { assertNotTooLarge } from './refusal.ts';
import { parseToml, tomlWith, tomlWithout } from './tomlConfig.ts';

/** One configuration file as it is; `null`: there is none. */
export interface FileText {
  readonly file: ConfigFile;
  /** How a refusal names it. */
  readonly path: string;
  readonly text: string | null;
}

/**
 * The text of the file with everything that the agent needs to work through Redline.
 * @throws SetUpRefusal if the file cannot be changed safely.
 */
export async function connectedText({ file, path, text }: FileText, bridge: string): Promise<string> {
  assertNotTooLarge(path, text ?? '');
  switch (file.format) {
    case 'json':
      return jsonWith(path, text ?? '{}\n', file.entries(bridge));
    case 'toml':
      return tomlWith(path, text ?? '', file.entries(bridge));
    case 'paragraph':
      return withParagraph(path, text ?? '');
  }
}

/**
 * The text of the file without what Redline added; `null` if the file goes, because Redline made it and nothing is left in it.
 * @param record what Redline added. Without one, only what no one else can have added goes.
 * @throws SetUpRefusal if the file cannot be changed safely.
 */
export async function disconnectedText(
  { file, path, text }: FileText,
  record: FileRecord | undefined,
): Promise<string | null> {
  if (text === null) return null;
  assertNotTooLarge(path, text);
  if (record?.undo && record.undo.hash === hashOf(text))
    return record.created ? null : applyTextEdits(text, record.undo.edits);
  const added = record?.added ?? surelyAdded(file);
  const rest = await withoutAdded(file, path, text, added);
  const isLeftEmpty = /^[\s{}]*$/.test(rest);
  return record?.created && rest !== text && isLeftEmpty ? null : rest;
}

function withoutAdded(
  { format }: ConfigFile,
  path: string,
  text: string,
  added: readonly AddedEntry[],
): Promise<string> | string {
  switch (format) {
    case 'json':
      return jsonWithout(path, text, added);
    case 'toml':
      return tomlWithout(path, text, added);
    case 'paragraph':
      return withoutParagraph(path, text);
  }
}

/** The entries that name Redline: no one else adds them. */
function surelyAdded(file: ConfigFile): readonly AddedEntry[] {
  return namingRedline(file).map(entry => ({ entry, existing: entry.path.length }));
}

function namingRedline(file: ConfigFile): readonly ConfigEntry[] {
  return file
    .entries('')
    .filter(entry =>
      entry.kind === 'value' ? entry.contradictedBy : entry.kind === 'member' && entry.member === 'redline',
    );
}

/**
 * What Redline has added to a file, after a change of it that the user applied: all of a preview, a part, or what undoes it.
 * @param record what it had added before.
 * @param isOurs whether the new text is Redline's alone: the user did not type into the proposal.
 * @returns `undefined` if nothing of it is left.
 */
export async function recordAfter(
  file: ConfigFile,
  record: FileRecord | undefined,
  before: string | null,
  after: string | null,
  isOurs = true,
): Promise<FileRecord | undefined> {
  if (after === null) return undefined;
  const isCreated = before === null || record?.created === true;
  const created = isCreated ? { created: true as const } : {};
  if (file.format === 'paragraph') return hasParagraph(after) ? { ...created, added: [] } : undefined;
  const [old, now] = [await parsedOrEmpty(file, before), await parsedOrEmpty(file, after)];
  const added = addedSince(record?.added ?? [], old, now, file.entries(''));
  if (added.length === 0) return undefined;
  const original = isOurs ? originalOf(record, before) : undefined;
  if (original === undefined) return { ...created, added };
  const edits = isCreated ? [] : await editsTo(after, original);
  return { ...created, added, undo: { hash: hashOf(after), edits } };
}

/** The text before Redline's first change, if all changes since are Redline's. */
function originalOf(record: FileRecord | undefined, before: string | null): string | undefined {
  if (!record) return before ?? '';
  if (before === null || record.undo?.hash !== hashOf(before)) return undefined;
  return applyTextEdits(before, record.undo.edits);
}

/** Whether a change adds any of what connecting adds. */
export async function addsToFile(
  file: ConfigFile,
  before: string | null,
  after: string | null,
): Promise<boolean> {
  if (file.format === 'paragraph') return hasParagraph(after ?? '') && !hasParagraph(before ?? '');
  return (await recordAfter(file, undefined, before, after, false)) !== undefined;
}

/** Whether the configuration names Redline's server. A file that cannot be parsed does not. */
export async function namesServer(file: ConfigFile, text: string | null): Promise<boolean> {
  const server = serverOf(file);
  return server !== undefined && isPresent(await parsedOrEmpty(file, text), server);
}

/** Whether something in the file keeps the agent from editing by itself, though it is not known whether Redline added it. */
export async function restrictsUnknown(
  file: ConfigFile,
  text: string | null,
  record: FileRecord | undefined,
): Promise<boolean> {
  if (record) return false;
  const root = await parsedOrEmpty(file, text);
  const sure = namingRedline(file).map(({ path }) => path.join('\0'));
  return file
    .entries('')
    .some(entry => entry.kind !== 'notMember' && !sure.includes(entry.path.join('\0')) && holds(root, entry));
}

async function parsedOrEmpty({ format }: ConfigFile, text: string | null): Promise<ConfigValue> {
  if (text === null) return {};
  try {
    return format === 'json' ? await parseJson('', text) : format === 'toml' ? await parseToml('', text) : {};
  } catch {
    return {};
  }
}

function hashOf(text: string): string {
  return sha256(Buffer.from(text, 'utf8'));
}

/** Edits of whole lines that turn one text into the other. */
async function editsTo(from: string, to: string): Promise<readonly TextEdit[]> {
  const [old, now] = [splitLines(from), splitLines(to)];
  const starts = [0];
  for (const line of old) starts.push((starts.at(-1) ?? 0) + line.length);
  const { runs } = await diffLines(old, now);
  return runs.map(run => ({
    start: starts[run.beforeStart] ?? from.length,
    end: starts[run.beforeEnd] ?? from.length,
    text: now.slice(run.afterStart, run.afterEnd).join(''),
  }));
}
