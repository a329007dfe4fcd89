import * as z from 'zod/mini';
import { InvalidArgumentsError } from '../../base/errors.ts';
import { parseNodeId, renderNodeId } from '../conversation/nodeId.ts';
import { REVERT_TOOL } from '../conversation/revert.ts';
import { revertCategories } from '../model/messages.ts';
import { textResult } from '../../hold/preview/pendingAction.ts';
import { defineTool, type Tool } from './tool.ts';

/** The longest summary, in characters. */
const MAX_SUMMARY_CHARS = 10_000;

/**
 * Lets the model leave a branch of the conversation and keep only what it learned. The tool only validates and records
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
      const { category, step, summary } = fieldsOf(params);
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
      if (text !== null && text.length > MAX_SUMMARY_CHARS) {
        throw new InvalidArgumentsError(
          `summary has ${text.length} characters; it is sent with every request from now on, so ${MAX_SUMMARY_CHARS} are the limit`,
        );
      }
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
  'Abandon the current branch and return the conversation to an earlier node. The conversation is a tree: each ' +
  'message is a node, and its id precedes its text, e.g. [n10]. Everything after the node leaves your context, ' +
  'including this call; the log keeps it, and files are not changed. Put everything you need to remember into ' +
  '`summary`: it is attached to the node as a tag. Categories: failure for a dead end to learn from; tangent for a ' +
  'finished exploration to fold back; completion for the outcome of a sealed sub-task; step-summary for a checkpoint ' +
  "on a long trunk. On a tool call or result, failure and tangent replace that node's text with the summary: return to " +
  "the node before it if you still need the text. A user's prompt is never dropped: return no further than the last one.";

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
        description: 'The id of the node to return to, as shown ("n10") or as a number ("10").',
      },
      summary: { type: 'string', description: 'One line: what to remember from the abandoned branch.' },
    },
    required: ['category', 'step'],
  }),
);

function fieldsOf(params: unknown): Readonly<Record<string, unknown>> {
  return typeof params === 'object' && params !== null ? (params as Record<string, unknown>) : {};
}
