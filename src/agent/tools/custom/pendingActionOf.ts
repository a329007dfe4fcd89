import { changeOf, sideOfText, type FileChange, type FileSide } from '../../preview/fileChange.ts';
import { DEFAULT_SOURCE, type PendingAction } from '../../preview/pendingAction.ts';
import type { CustomToolFileChange, CustomToolPendingAction } from './redline.d.ts';

/** What turning an author's action into ours needs. */
export interface ActionParts {
  resolvePath(input: string): string;
  /** What the tool has read, by workspace path: a file that is stored in another encoding than UTF-8 keeps it. */
  readonly sides: ReadonlyMap<string, FileSide>;
  /** Runs a callback as code of the tool. */
  run<T>(work: () => T): T;
}

/**
 * An author's action as a pending action.
 * @throws TypeError with a sentence for the author.
 */
export function pendingActionOf(given: CustomToolPendingAction, parts: ActionParts): PendingAction {
  const { label, sourceToolName = DEFAULT_SOURCE, details, changes, apply, reject } = checked(given);
  const common = {
    label,
    sourceToolName,
    ...(details === undefined ? {} : { details }),
    ...(reject ? { reject: inside(reason => reject.call(given, reason), parts) } : {}),
  };
  if (changes) return { ...common, changes: changes.flatMap(change => fileChange(change, parts) ?? []) };
  return { ...common, apply: inside(reason => apply.call(given, reason), parts) };
}

/** A callback as the runtime calls it, which makes a result of whatever it returns. */
function inside<T>(
  callback: (reason: string) => T | Promise<T>,
  parts: ActionParts,
): (reason: string) => Promise<Exclude<T, void>> {
  return reason => parts.run(async () => (await callback(reason)) as Exclude<T, void>);
}

function checked(given: unknown): CustomToolPendingAction {
  const need = (is: boolean, what: string): void => {
    if (!is) throw new TypeError(`pushPendingAction: ${what}`);
  };
  need(
    typeof given === 'object' && given !== null,
    'give it an object with `label` and `apply` or `changes`.',
  );
  const action = given as Partial<Record<keyof CustomToolPendingAction, unknown>>;
  need(typeof action.label === 'string' && action.label.trim() !== '', '`label` must be a text.');
  need(
    isAbsent(action.sourceToolName) || typeof action.sourceToolName === 'string',
    '`sourceToolName` must be a text.',
  );
  need(isAbsent(action.reject) || typeof action.reject === 'function', '`reject` must be a function.');
  if (Array.isArray(action.changes))
    action.changes.forEach((change, i) =>
      need(
        isChange(change),
        `\`changes[${i}]\` needs \`path\`, and \`before\` and \`after\` as texts or null.`,
      ),
    );
  else need(isAbsent(action.changes), '`changes` must be an array.');
  need(
    typeof action.apply === 'function' || !isAbsent(action.changes),
    '`apply` must be a function, or `changes` be given.',
  );
  return given as CustomToolPendingAction;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function isChange(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { path, before, after } = value as Partial<Record<keyof CustomToolFileChange, unknown>>;
  const isSide = (side: unknown): boolean => side === null || typeof side === 'string';
  return typeof path === 'string' && isSide(before) && isSide(after);
}

function fileChange(
  { path: input, before, after }: CustomToolFileChange,
  { resolvePath, sides }: ActionParts,
): FileChange | undefined {
  const path = resolvePath(input);
  const read = sides.get(path);
  const encoding = read?.encoding;
  const was = before === null ? null : before === read?.text ? read : sideOfText(before, encoding);
  return changeOf(path, was, after === null ? null : sideOfText(after, encoding));
}
