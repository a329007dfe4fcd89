import { commonName, nameAndNote, nameIn, namesOfHead, type NamePair } from './patchNames.ts';
import type { PatchedFile, PatchLines } from './patchParts.ts';

/** The extended headers below `diff --git`, such as `rename from`. */
interface Head {
  readonly names: NamePair | undefined;
  readonly said: ReadonlyMap<string, string>;
}

/** The lines that may stand between `diff --git` and the names above the hunks. */
const SAID =
  /^(?<what>old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|similarity index|dissimilarity index|index) (?<value>.*)$/;

/**
 * Takes a file in git's format from a section that begins with `diff --git`.
 * @throws Error if it is damaged
 */
export function takeGitFile(lines: PatchLines): PatchedFile {
  const head = takeHead(lines);
  const above = namesAbove(lines);
  const hunks = lines.hunks();
  const isBinary = /^(?:GIT binary patch$|Binary files )/.test(lines.peek() ?? '');
  if (isBinary) lines.take();
  const { said } = head;
  const kind = kindOf(said, above);
  const names =
    kind === 'rename' || kind === 'copy'
      ? { from: [nameIn(said.get(`${kind} from`) ?? '')], to: [nameIn(said.get(`${kind} to`) ?? '')] }
      : sameName(head.names, above);
  const [, , indexMode] = /^(\S+) (\d+)$/.exec(said.get('index') ?? '') ?? [];
  const oldMode = said.get('old mode') ?? said.get('deleted file mode') ?? indexMode;
  const newMode = said.get('new mode') ?? said.get('new file mode') ?? indexMode;
  return {
    kind,
    ...names,
    hunks,
    isBinary,
    ...(oldMode === undefined ? {} : { oldMode }),
    ...(newMode === undefined ? {} : { newMode }),
    ...(said.has('dissimilarity index') ? { isRewrite: true } : {}),
  };
}

function takeHead(lines: PatchLines): Head {
  const names = namesOfHead(lines.take().slice('diff --git '.length));
  const said = new Map<string, string>();
  for (let found = saidIn(lines); found; found = saidIn(lines)) {
    said.set(found['what'] ?? '', found['value'] ?? '');
    lines.take();
  }
  return { names, said };
}

function saidIn(lines: PatchLines): Readonly<Record<string, string>> | undefined {
  return SAID.exec(lines.peek() ?? '')?.groups;
}

/** The names above the hunks, if there are any. */
function namesAbove(lines: PatchLines): NamePair | undefined {
  if (lines.peek()?.startsWith('--- ') !== true || lines.peek(1)?.startsWith('+++ ') !== true)
    return undefined;
  const [old] = nameAndNote(lines.take());
  const [now] = nameAndNote(lines.take());
  return [old, now];
}

const NONE = '/dev/null';

function kindOf(said: ReadonlyMap<string, string>, above: NamePair | undefined): PatchedFile['kind'] {
  if (said.has('rename from')) return 'rename';
  if (said.has('copy from')) return 'copy';
  if (said.has('new file mode') || above?.[0] === NONE) return 'create';
  if (said.has('deleted file mode') || above?.[1] === NONE) return 'delete';
  return 'modify';
}

/** The one name of a file that is not renamed, without its two prefixes: these differ, unless there are none. */
function sameName(head: NamePair | undefined, above: NamePair | undefined): Pick<PatchedFile, 'from' | 'to'> {
  const isWhole = above !== undefined && !above.includes(NONE);
  const [old, now] = (isWhole ? above : head) ?? [];
  if (old === undefined || now === undefined) throw new Error('Its names cannot be told apart.');
  if (old === now) return { from: [old], to: [old] };
  const common = commonName(old, now);
  const names = (own: string): readonly string[] => (common === undefined ? [own] : [common]);
  return { from: names(old), to: names(now) };
}
