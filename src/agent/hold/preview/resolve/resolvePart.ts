import { english, type Localiser } from '../../../base/localiser.ts';
import { patchText } from '../../text/hunks.ts';
import { hunksOfChange, isLink, isText, isWhole, type FileChange, type FileSide } from '../fileChange.ts';
import { counted, recounted } from '../label.ts';
import type { Preview } from '../preview.ts';
import type { PreviewStore } from '../previewStore.ts';
import type { Invoker } from './invoker.ts';
import { hunkNumber, keepsHunks, numbersOf, ownParts } from './ownParts.ts';
import { knownPreview, refuseOutdated } from './refusals.ts';
import type { Resolved, ResolveRequest } from './resolved.ts';
import { splitPreview, type PreviewPart, type SplitPreview } from './splitPreview.ts';

/** The longest patch of a part that the model gets, in lines. */
const MAX_PATCH_LINES = 60;

/**
 * Resolves one file or one hunk of a preview: it splits the part off into a preview of its own for the invoker, so that
 * execution, ledger, undo and the model's messages need no rules for parts. If the part is the whole preview, it resolves that.
 * @param request names the preview and the revision that was seen.
 * @throws ToolError if the preview is unknown, has another revision, or has no such part; and any error of the invoker.
 */
export async function resolvePart(
  { store, invoker, l10n = english }: PartHost,
  request: ResolveRequest & { readonly revision: number },
  part: PreviewPart,
): Promise<Resolved> {
  const seen = knownPreview(store, request.id);
  refuseOutdated(seen, request.revision);
  if (seen.state.kind !== 'pending') return invoker.resolve(request);
  const split = await splitPreview(seen, part, request.action);
  if (!split) return invoker.resolve(request);
  // Before the split: a vote that is refused leaves the preview as it is.
  const alone: Preview = { ...seen, kind: 'files', changes: split.part };
  if (request.action === 'apply') await invoker.assertApplicable(alone, request);
  const { patch, hunks } = await describe(split.part);
  const isKept = await leavesTheRest(seen, split, part);
  const now = store.get(request.id);
  if (now !== seen) {
    if (now) refuseOutdated(now, request.revision);
    if (now?.state.kind !== 'pending') return invoker.resolve(request);
  }
  // The previews that it builds on may have changed meanwhile, too.
  if (request.action === 'apply') invoker.assertUnblocked(alone, request);
  const number = hunkNumber(part.hunk ?? 0, numbersOf(ownParts(store, seen), part.path));
  const { id } = store.split(
    seen.id,
    { changes: split.rest, buildsOnPart: split.restBuildsOnPart },
    {
      ...partLabel(seen, split.part, part, number),
      // Without a title, people read the label, whose counts are those of the part.
      ...(seen.title === undefined ? {} : { title: partTitle(seen, seen.title, part, number, l10n) }),
      sourceToolName: seen.sourceToolName,
      kind: 'files',
      ...(seen.purpose ? { purpose: seen.purpose } : {}),
      ...(seen.humanOnly ? { humanOnly: true } : {}),
      changes: split.part,
      dependsOn: seen.dependsOn,
      ...(seen.roots ? { roots: seen.roots } : {}),
      // The user decides on it separately: the model is only told the outcome.
      origin: seen.origin && { ...seen.origin, asksModel: false },
      part: {
        previewId: seen.id,
        hunks,
        patch,
        ...(part.hunk === undefined ? {} : { number }),
        ...(isKept ? { revision: seen.revision } : {}),
      },
      stagedAt: new Date().toISOString(),
    },
  );
  return invoker.resolve({ ...request, id, revision: 1 });
}

/** Where parts are split off and resolved. */
interface PartHost {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  /** For the title that the user reads. */
  readonly l10n?: Localiser;
}

function partTitle(
  whole: Preview,
  title: string,
  { path, hunk }: PreviewPart,
  number: number,
  l10n: Localiser,
): string {
  if (hunk === undefined) return l10n.t('{0}: {1}', title, path);
  return namesFile(title, path, whole)
    ? l10n.t('{1}, hunk {0}', String(number), title)
    : l10n.t('{0}: {1}, hunk {2}', title, path, String(number));
}

/** Whether the name of a preview says in which file its hunks are: it names this path, and no list of files. */
function namesFile(name: string, path: string, { changes }: Preview): boolean {
  return changes?.length === 1 && !name.includes(',') && name.split(/[\s:()]+/).includes(path);
}

/** The label of a part: that of the whole, with the counts of the part if they are Redline's, and its place in the whole. */
function partLabel(
  whole: Preview,
  changes: readonly FileChange[],
  { path, hunk }: PreviewPart,
  number: number,
): Pick<Preview, 'label' | 'labelParts'> {
  const { label, labelParts } = whole;
  const isNamed = hunk !== undefined && namesFile(label, path, whole);
  const place = `${isNamed ? '' : `: ${path}`}${hunk === undefined ? '' : `, hunk ${number}`}`;
  return labelParts ? counted(...recounted(labelParts, changes), place) : { label: `${label}${place}` };
}

/** Whether everything except the part is unchanged. */
async function leavesTheRest(
  seen: Preview,
  { rest }: SplitPreview,
  { path, hunk }: PreviewPart,
): Promise<boolean> {
  const [was, now] = [seen.changes, rest].map(changes => changes?.find(change => change.path === path));
  return hunk === undefined || !was || !now || keepsHunks(was, hunk, now);
}

/** A change of a link or a binary file, for the model. */
function wholePatch({ path, before, after }: FileChange, from: string): string {
  const told = (sign: string, side: FileSide | null): string[] => {
    if (!side) return [];
    if (isText(side)) return [`${sign}a text file`];
    return [
      `${sign}${isLink(side) ? `a symbolic link to ${side.link}` : `a binary file, ${side.size} bytes`}`,
    ];
  };
  return [`--- ${from}`, `+++ ${path}`, ...told('-', before), ...told('+', after)].join('\n');
}

async function describe(changes: readonly FileChange[]): Promise<{ patch: string; hunks: number }> {
  let hunks = 0;
  const patches: string[] = [];
  for (const change of changes) {
    const own = await hunksOfChange(change);
    hunks += Math.max(1, own.length);
    const { path } = change;
    const from = change.kind === 'rename' ? change.from : path;
    patches.push(isWhole(change) ? wholePatch(change, from) : patchText(path, own, MAX_PATCH_LINES, from));
  }
  return { patch: patches.join('\n'), hunks };
}
