import { ToolError } from '../../base/errors.ts';
import { changeOf, sideOfText, type FileChange, type FileSide } from '../../preview/fileChange.ts';
import { DEFAULT_SOURCE, type AgentToolResult, type PendingAction } from '../../preview/pendingAction.ts';
import { storedText } from '../textFile.ts';
import type { CustomToolFileChange } from './redline.d.ts';

/** What turning somebody else's action into ours needs. */
export interface ActionParts {
  resolvePath(input: string): string;
  /** What the tool has read, by workspace path: a file that is stored in another encoding than UTF-8 keeps it. */
  readonly sides: ReadonlyMap<string, FileSide>;
  /** Runs a callback as code of whoever gave it. */
  run<T>(work: () => T): T;
}

/** What callbacks are told: the reason, which is all that authors of tools are promised, and what came along with it. */
type Told = Parameters<NonNullable<PendingAction['apply']>>;
type Callback = (...told: Told) => unknown;

/** An action that was looked at. */
interface GivenAction {
  readonly label: string;
  readonly sourceToolName?: string | null;
  readonly details?: unknown;
  readonly changes?: readonly CustomToolFileChange[] | null;
  readonly apply?: Callback | null;
  readonly reject?: Callback | null;
}

/**
 * What the code of others gave as a pending action, which may be anything, as one.
 * @throws TypeError with a sentence for its author; ToolError for changes that cannot be landed as they are declared.
 */
export function pendingActionOf(given: unknown, parts: ActionParts): PendingAction {
  const action = checked(given);
  const { label, sourceToolName, details, changes, apply, reject } = action;
  const common = {
    label,
    sourceToolName: sourceToolName ?? DEFAULT_SOURCE,
    ...(details === undefined ? {} : { details }),
    ...(reject ? { reject: inside(reject.bind(action), parts) } : {}),
  };
  if (changes) return { ...common, changes: fileChanges(changes, parts) };
  return apply ? { ...common, apply: inside(apply.bind(action), parts) } : common;
}

/** A callback as the runtime calls it, which makes a result of whatever it answers. */
function inside(callback: Callback, parts: ActionParts): (...told: Told) => Promise<AgentToolResult> {
  return (...told) => parts.run(async () => (await callback(...told)) as AgentToolResult);
}

function checked(given: unknown): GivenAction {
  const need = (is: boolean, what: string): void => {
    if (!is) throw new TypeError(`Pending action: ${what}`);
  };
  need(
    typeof given === 'object' && given !== null,
    'give it an object with `label` and `apply` or `changes`.',
  );
  const action = given as Partial<Record<keyof GivenAction, unknown>>;
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
  return given as GivenAction;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function isChange(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { path, before, after } = value as Partial<Record<keyof CustomToolFileChange, unknown>>;
  const isSide = (side: unknown): boolean => side === null || typeof side === 'string';
  return typeof path === 'string' && isSide(before) && isSide(after);
}

/** Each file once: a preview shows one document for it. What changes nothing is left out. */
function fileChanges(declared: readonly CustomToolFileChange[], parts: ActionParts): readonly FileChange[] {
  const paths = new Set<string>();
  return declared.flatMap(change => {
    const path = parts.resolvePath(change.path);
    if (paths.has(path)) throw new ToolError(`${path} is declared twice. Declare one change for each file.`);
    paths.add(path);
    return fileChange(path, change, parts.sides.get(path)) ?? [];
  });
}

function fileChange(
  path: string,
  { before, after }: CustomToolFileChange,
  read: FileSide | undefined,
): FileChange | undefined {
  const encoding = read?.encoding;
  const was = before === null ? null : before === read?.text ? read : sideOfText(before, encoding);
  return changeOf(path, was, after === null ? null : storedText(path, after, encoding));
}
