import type { AssistantMessage, SessionMessage, ToolResultMessage, UserMessage } from '../model/messages.ts';
import type { ConversationTree } from '../tree/conversationTree.ts';
import { renderNodeId, type NodeId } from '../tree/nodeId.ts';
import { changedSettings, type Resolution, type SessionTrail, type SettingsInForce } from './sessionTrail.ts';

/**
 * A conversation as a document for people: the trunk, with what was kept of the branches that were left, what became of
 * previews, and the settings where they are others than before. The texts of the branches themselves are in the log only.
 */
export function sessionMarkdown(
  { tree, trail }: { readonly tree: ConversationTree; readonly trail: SessionTrail },
  title: string,
): string {
  const parts = [`# ${title.replace(/\s+/g, ' ').trim()}`];
  const lines: readonly (NodeId | null)[] = [null, ...tree.trunk];
  let before: Partial<SettingsInForce> = {};
  for (const id of lines) {
    const message = id === null ? undefined : tree.get(id)?.message;
    const now = id === null ? undefined : trail.settingsFrom(id);
    if (now) parts.push(...settingsLine(before, now));
    before = now ?? before;
    if (message) parts.push(...partsOf(message));
    parts.push(...trail.resolvedAfter(id).map(resolutionLine));
    const tags = id === null ? [] : tree.tagsOf(id);
    for (const { kind, text } of tags) parts.push(`> **${kind}**: ${text}`);
    const told = new Set(tags.map(({ abandonedNodeIds: [first] }) => first));
    const left = tree.childrenOf(id).filter(child => !tree.isOnTrunk(child) && !told.has(child));
    if (left.length > 0) parts.push(`> Another branch begins here: ${left.map(renderNodeId).join(', ')}`);
  }
  return `${parts.join('\n\n')}\n`;
}

const settingNames: Readonly<Record<keyof SettingsInForce, string>> = {
  model: 'model',
  modelAuthority: 'authority',
  forcing: 'forcing',
  order: 'order',
  revertEnabled: 'revert tool',
};

/** What is in force from here on, as far as it was not before. */
function settingsLine(before: Partial<SettingsInForce>, now: SettingsInForce): string[] {
  const changed = changedSettings(before, now).map(name => {
    const value = now[name];
    return `${settingNames[name]} \`${typeof value === 'string' ? value : value ? 'on' : 'off'}\``;
  });
  return changed.length > 0 ? [`> **Settings**: ${changed.join(', ')}`] : [];
}

function resolutionLine({ previewId, label, outcome, actor, reason }: Resolution): string {
  const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();
  return `> **${previewId} ${outcome}** (${actor}) ${oneLine(label)}: ${oneLine(reason)}`;
}

function partsOf(message: SessionMessage): string[] {
  switch (message.role) {
    case 'user':
      return prompt(message);
    case 'assistant':
      return answer(message);
    case 'tool':
      return result(message);
    case 'local':
      return ['## You', message.text, message.answer];
    case 'steering':
      return message.kind === 'notice' ? [`> ${message.text.replaceAll('\n', '\n> ')}`] : [];
  }
}

function prompt({ text, attachments = [] }: UserMessage): string[] {
  const files = attachments.map(({ path, startLine, endLine }) =>
    startLine === undefined ? `\`${path}\`` : `\`${path}:${startLine}-${endLine ?? startLine}\``,
  );
  return ['## You', text, ...(files.length > 0 ? [`Attached: ${files.join(', ')}`] : [])];
}

function answer({ text, toolCalls, error }: AssistantMessage): string[] {
  const calls = toolCalls.map(call => `**${call.name}**\n\n${fenced(call.arguments, 'json')}`);
  const body = [
    ...(text.trim() === '' ? [] : [text]),
    ...calls,
    ...(error === undefined ? [] : [`*${error}*`]),
  ];
  return body.length === 0 ? [] : ['## Redline', ...body];
}

function result({ toolName, content, isError }: ToolResultMessage): string[] {
  return [`**${toolName}**: ${isError ? 'failed' : 'result'}`, fenced(content, '')];
}

/** A block whose fence is longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
