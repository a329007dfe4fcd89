import * as fs from 'node:fs';
import * as path from 'node:path';
import { Git } from '../../agent/hold/external/git.ts';
import { lineEndingOf } from '../../agent/hold/text/lines.ts';

/** How many neighbours of a new file are read, and how many bytes of each. */
const MAX_NEIGHBOURS = 5;
const SAMPLE_BYTES = 4_096;

/** The sources for the line ending of a new file. */
export interface NewFile {
  /** Absolute. */
  readonly file: string;
  /** The workspace folder that it is in. */
  readonly root: string;
  /** The setting `files.eol`. */
  readonly setting: string;
  /** Whether git may be asked. */
  readonly isTrusted: boolean;
  readonly platform?: NodeJS.Platform;
}

/**
 * The line ending of a new file, from the first source that has one: git's attributes, the setting `files.eol`, the files beside it
 * with the same extension, and the system.
 */
export async function lineEndingOfNewFile(place: NewFile): Promise<'\n' | '\r\n'> {
  const { setting, platform = process.platform } = place;
  const set = setting === '\n' || setting === '\r\n' ? setting : undefined;
  const said = (await attributeOf(place)) ?? set ?? neighboursEnding(place.file);
  return said ?? (platform === 'win32' ? '\r\n' : '\n');
}

/** The line ending in `.gitattributes`. Git is asked only if that file exists. */
async function attributeOf({ file, root, isTrusted }: NewFile): Promise<'\n' | '\r\n' | undefined> {
  let folder = path.dirname(file);
  let hasAttributes = false;
  for (let at = folder; !hasAttributes; at = path.dirname(at)) {
    hasAttributes = fs.existsSync(path.join(at, '.gitattributes'));
    if (at === root || path.dirname(at) === at) break;
  }
  if (!hasAttributes || !isTrusted) return undefined;
  while (!fs.existsSync(folder)) folder = path.dirname(folder);
  try {
    const eol = await new Git(folder).lineEndingOf(path.relative(folder, file));
    return eol === 'crlf' ? '\r\n' : eol === 'lf' ? '\n' : undefined;
  } catch {
    return undefined; // there is no git, or no repository
  }
}

/** The line ending that a file's neighbours with the same extension share; `undefined` if there is none. */
function neighboursEnding(file: string): '\n' | '\r\n' | undefined {
  const folder = path.dirname(file);
  const extension = path.extname(file).toLowerCase();
  const found = new Set<string>();
  const alike = namesIn(folder).filter(name => path.extname(name).toLowerCase() === extension);
  for (const name of alike.slice(0, MAX_NEIGHBOURS)) {
    const ending = lineEndingOf(beginningOf(path.join(folder, name)));
    if (ending !== undefined) found.add(ending);
    if (found.size > 1) return undefined;
  }
  const [only] = found;
  return only === '\n' || only === '\r\n' ? only : undefined;
}

function namesIn(folder: string): readonly string[] {
  try {
    const files = fs.readdirSync(folder, { withFileTypes: true }).filter(entry => entry.isFile());
    return files.map(({ name }) => name).sort();
  } catch {
    return []; // the folder is new, too
  }
}

/** The first lines of a file, as far as their endings can be told without its encoding; empty if it cannot be read. */
function beginningOf(file: string): string {
  try {
    const handle = fs.openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(SAMPLE_BYTES);
      const length = fs.readSync(handle, bytes, 0, SAMPLE_BYTES, 0);
      const text = bytes.toString('latin1', 0, length).replaceAll('\0', '');
      // The sample may end between the two characters of a line ending.
      return text.endsWith('\r') ? text.slice(0, -1) : text;
    } finally {
      fs.closeSync(handle);
    }
  } catch {
    return '';
  }
}
