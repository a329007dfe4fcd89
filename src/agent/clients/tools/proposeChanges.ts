import * as z from 'zod/mini';
import { beginningOf } from '../../base/cutText.ts';
import { ToolError } from '../../base/errors.ts';
import type { Localiser } from '../../base/localiser.ts';
import type { FileChange } from '../../hold/preview/fileChange.ts';
import { stepsOf } from '../../hold/preview/fileSteps.ts';
import { counted } from '../../hold/preview/label.ts';
import { resultText, textResult, type PendingAction } from '../../hold/preview/pendingAction.ts';
import type { Preview } from '../../hold/preview/preview.ts';
import { assertApplicable } from '../../hold/preview/textFile.ts';
import { deleteFileTool } from '../../session/tools/files/deleteFile.ts';
import { renameFileTool } from '../../session/tools/files/renameFile.ts';
import { defineTool, type Tool, type ToolContext } from '../../session/tools/tool.ts';
import { editsSchema, proposeEditTool } from './proposeEdit.ts';

/** The most files of one proposal. */
const MAX_FILES = 500;
/** The longest title, in characters. */
const MAX_TITLE = 200;

const changeSchema = z.object({
  path: z.string().check(z.minLength(1), z.describe('Path of the file inside the workspace.')),
  edits: z.optional(editsSchema),
  content: z.optional(
    z.string().check(z.describe('The whole new content; creates a file that does not exist.')),
  ),
  renameTo: z.optional(
    z.string().check(z.minLength(1), z.describe('New path of the file. May come with edits or content.')),
  ),
  delete: z.optional(z.boolean().check(z.describe('true deletes the file; then give nothing else.'))),
});

type GivenChange = z.output<typeof changeSchema>;

/** Stages changes of several files as one preview, which lands as a whole or not at all. */
export const proposeChangesTool = defineTool({
  name: 'propose_changes',
  label: 'Propose Changes',
  description:
    'Propose changes of several files as one: edits, new content, renames and deletions. Each file may occur once. The ' +
    'user can apply them together or file by file, and decides later. Nothing is written; the call returns at once.',
  parameters: z.object({
    title: z.optional(z.string().check(z.describe('What the changes do, in a few words, for the user.'))),
    changes: z.array(changeSchema).check(z.minLength(1), z.maxLength(MAX_FILES)),
  }),
  async execute({ title = '', changes: given }, context) {
    const changes: FileChange[] = [];
    const summaries: string[] = [];
    const places = new Map<string, number>();
    for (const [index, each] of given.entries()) {
      const made = await changeOf(each, context).catch((error: unknown) => {
        throw error instanceof ToolError
          ? new ToolError(`changes.${index} (${each.path}): ${error.message} Nothing was staged.`)
          : error;
      });
      for (const { path } of made.changes.flatMap(stepsOf)) {
        const earlier = places.get(path);
        if (earlier !== undefined && earlier !== index)
          throw new ToolError(
            `changes.${earlier} and changes.${index} both concern ${path}. Merge them into one, or propose them one after the other. Nothing was staged.`,
          );
        places.set(path, index);
      }
      changes.push(...made.changes);
      summaries.push(made.summary);
    }
    if (changes.length === 0) return textResult(`${summaries.join('\n')}\nNothing was staged.`);
    await assertApplicable(context.workspace, changes);
    const named = beginningOf(title.trim(), MAX_TITLE);
    context.stage({
      ...(named ? { label: named } : counted('Change ', { noun: 'file', count: changes.length })),
      title: named || (l10n => titleFor(changes, l10n)),
      sourceToolName: 'propose_changes',
      changes,
    });
    return textResult(summaries.join('\n'));
  },
});

function titleFor([first, ...others]: readonly FileChange[], l10n: Localiser): string {
  const path = first?.path ?? '';
  return others.length === 0 ? l10n.t('Change {0}', path) : l10n.t('Change several files');
}

interface MadeChange {
  /** None if the file already is as proposed; otherwise one. */
  readonly changes: readonly FileChange[];
  readonly summary: string;
}

async function changeOf(given: GivenChange, context: ToolContext): Promise<MadeChange> {
  const { path, edits, content, renameTo } = given;
  const changesText = edits !== undefined || content !== undefined;
  if (given.delete === true) {
    if (changesText || renameTo !== undefined)
      throw new ToolError('Give delete alone, without edits, content and renameTo.');
    return collected(deleteFileTool, { path }, context);
  }
  if (renameTo === undefined) {
    if (!changesText) throw new ToolError('Give edits, content, renameTo or delete.');
    return collected(proposeEditTool, { path, edits, content }, context);
  }
  const moved = await collected(renameFileTool, { from: path, to: renameTo }, context);
  if (!changesText) return moved;
  const edited = await collected(proposeEditTool, { path, edits, content }, context);
  const after = edited.changes[0]?.after;
  return {
    changes: moved.changes.map(change => (after && change.kind === 'rename' ? { ...change, after } : change)),
    summary: `${moved.summary}\n${edited.summary}`,
  };
}

/** The change that another tool would stage. */
async function collected(tool: Tool, params: unknown, context: ToolContext): Promise<MadeChange> {
  const changes: FileChange[] = [];
  const stage = ({ changes: own = [] }: PendingAction): Preview => {
    changes.push(...own);
    // No preview exists yet, and the tools of single files do not look at it.
    return undefined as unknown as Preview;
  };
  const result = await tool.execute(params, { ...context, stage });
  return { changes, summary: resultText(result) };
}
