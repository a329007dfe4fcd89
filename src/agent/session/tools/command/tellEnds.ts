import type { BackgroundCommand } from '../../../sandbox/commands/commandRuns.ts';
import type { Conversation } from '../../conversation/conversation.ts';
import type { SteeringMessage } from '../../model/messages.ts';

/** Tells the model, once for each, about background commands that have ended. */
export function tellEnds(
  commands: readonly BackgroundCommand[],
  { previews }: Conversation,
  inbox: { add(message: SteeringMessage): void },
): void {
  for (const command of commands) {
    const { previewId: id, ending, isTold } = command;
    if (ending === undefined || isTold || !previews.concerns(id)) continue;
    command.isTold = true;
    const text = `${id}: ${ending} Call command_output with id "${id}" to read its output.`;
    inbox.add({ role: 'steering', kind: 'outcome', text, previewIds: [id], tells: [] });
  }
}
