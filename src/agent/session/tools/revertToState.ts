import * as z from 'zod/mini';
import { fieldsIn } from '../../base/json.ts';
import { InvalidArgumentsError } from '../../base/errors.ts';
import { parseNodeId, renderNodeId } from '../conversation/nodeId.ts';
import { REVERT_TOOL } from '../conversation/revert.ts';
import { revertCategories } from '../model/messages.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from './tool.ts';

/**
 * Lets the model leave a branch of the conversation and keep only the lesson. The tool only validates and records
 * the request. The session applies it between turns, once all results of the message are stored, because changing the
 * tree during a stream would corrupt the stream.
 * @param isEnabled the one switch that offers the tool, applies its requests and shows node ids to the model.
 */
export function revertToStateTool(isEnabled: () => boolean): Tool {
  return defineTool({
    name: REVERT_TOOL,
    label: 'Revert to State',
    description: DESCRIPTION,
    parameters,
    isEnabled,
    execute: async (params, context) => {
      const { category, step, summary } = fieldsIn(params);
      if (typeof category !== 'string') throw new InvalidArgumentsError('category is required');
      const known = revertCategories.find(candidate => candidate === category);
      if (!known) {
        throw new InvalidArgumentsError(
          `category must be one of ${revertCategories.join(' | ')}; got ${JSON.stringify(category)}`,
        );
      }
      if (typeof step !== 'string') throw new InvalidArgumentsError('step is required');
      const target = parseNodeId(step);
      if (target === undefined) {
        throw new InvalidArgumentsError(
          `step must be a node identifier like "n12" or "12"; got ${JSON.stringify(step)}`,
        );
      }
      const text = typeof summary === 'string' ? summary : null;
      context.revert({ category: known, target, summary: text });
      const about = text === null ? '' : `, summary=${JSON.stringify(text)}`;
      return textResult(
        `Revert request recorded: category=${known}, target=${renderNodeId(target)}${about}. ` +
          'The trunk will be rebuilt from this node before the next turn.',
        null,
      );
    },
  });
}

const DESCRIPTION =
  'Return the conversation to an earlier node of its tree. Each message is a node; its id precedes its text, e.g. [n10]. ' +
  'All that follows leaves your context, this call too; the log keeps it, and no file changes. Put all that you need to ' +
  'remember into `summary`, which is attached to the node. Categories: failure for a dead end to learn from; tangent for a ' +
  'finished exploration to fold back; completion for the outcome of a sealed sub-task; step-summary for a checkpoint ' +
  "on a long trunk. On a tool call or result, failure and tangent replace that node's text with the summary: return to " +
  "a later node if you still need the text. A user's prompt is never dropped: return no further than the last one.";

/** Described to the model here, but checked by hand in `execute`: the exact text of each error is a contract. */
const parameters = z.unknown().check(
  z.meta({
    type: 'object',
    properties: {
      category: {
        type: 'string',
        enum: [...revertCategories],
      },
      step: {
        type: 'string',
        description: 'Id of the node, as shown ("n10").',
      },
      summary: { type: 'string', description: 'What to remember, in one line.' },
    },
    required: ['category', 'step'],
  }),
);
