import { oneLine } from '../../../base/foreignText.ts';
import { TimeSlice } from '../../../base/async.ts';
import { fenced } from '../../../base/phrases.ts';
import type {
  AssistantMessage,
  SessionMessage,
  ToolResultMessage,
  UserMessage,
} from '../../model/messages.ts';
import type { RunFact } from '../../../hold/preview/ledger.ts';
import { changedSettings, type HeardAttempt, type AuditTrail, type SettingsInForce } from '../auditTrail.ts';
import type { ConversationTree } from '../conversationTree.ts';
import { renderNodeId, type NodeId } from '../nodeId.ts';
import type { NodeTag } from '../revert.ts';
import { closedLine, closedMarkdown } from './closedMarkdown.ts';

/**
 * Exports a conversation as a document to be read, in UTF-8: the trunk, the tags of abandoned branches, the outcomes of previews,
 * and the settings where they changed. The messages of abandoned branches are not included. Other work runs in between; its changes
 * to the conversation are not in the document.
 */
export async function sessionMarkdown(source: ExportedSession, title: string): Promise<Buffer> {
  const { tree } = source;
  const slice = new TimeSlice();
  const pieces = [Buffer.from(`# ${closed(title)}`)];
  // Messages are parsed later: their places in the tree are cheap to find, and must be found in one go.
  for (const { id, before, after, tags, branches } of stationsOf(source)) {
    const message = id === null ? undefined : tree.get(id)?.message;
    const told = tags.map(({ kind, text }) => `> **${kind}**: ${closedLine(text)}`);
    const parts = [...before, ...(message ? partsOf(message) : []), ...after, ...told, ...branches];
    pieces.push(Buffer.from(parts.map(part => `\n\n${part}`).join('')));
    await slice.turn();
  }
  return Buffer.concat([...pieces, Buffer.from('\n')]);
}

interface ExportedSession {
  readonly tree: ConversationTree;
  readonly trail: AuditTrail;
}

/** A node of the trunk, `null` for the point above it, and the notes around its message. */
interface Station {
  readonly id: NodeId | null;
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly tags: readonly NodeTag[];
  readonly branches: readonly string[];
}

function stationsOf({ tree, trail }: ExportedSession): Station[] {
  let settings: Partial<SettingsInForce> = {};
  return [null, ...tree.trunk].map(id => {
    const now = id === null ? undefined : trail.settingsFrom(id);
    const before = now ? settingsLine(settings, now) : [];
    settings = now ?? settings;
    const tags = id === null ? [] : tree.tagsOf(id);
    const told = new Set(tags.map(({ abandonedNodeIds: [first] }) => first));
    const left = tree.childrenOf(id).filter(child => !tree.isOnTrunk(child) && !told.has(child));
    const branches =
      left.length > 0 ? [`> Another branch begins here: ${left.map(renderNodeId).join(', ')}`] : [];
    return { id, before, after: trail.resolutionsAfter(id).map(resolutionLine), tags, branches };
  });
}

const settingNames: Readonly<Record<keyof SettingsInForce, string>> = {
  model: 'model',
  modelAuthority: 'authority',
  forcing: 'forcing',
  order: 'order',
  revertEnabled: 'revert tool',
};

/** The settings that changed here, in one line; none if nothing changed. */
function settingsLine(before: Partial<SettingsInForce>, now: SettingsInForce): string[] {
  const changed = changedSettings(before, now).map(name => {
    const value = now[name];
    return `${settingNames[name]} \`${typeof value === 'string' ? value : value ? 'on' : 'off'}\``;
  });
  return changed.length > 0 ? [`> **Settings**: ${changed.join(', ')}`] : [];
}

function resolutionLine({ previewId, label, outcome, actor, reason, run }: HeardAttempt): string {
  const how = outcome === 'returnedError' ? 'applied, and returned an error' : run ? ended(run) : outcome;
  return `> **${previewId} ${how}** (${actor}) ${closed(label)}: ${closed(reason)}`;
}

function closed(text: string): string {
  return closedLine(oneLine(text, Infinity));
}

function ended({ exitCode, endedBy }: RunFact): string {
  if (endedBy !== undefined) return endedBy === 'user' ? 'ran, and was stopped' : 'ran into the time limit';
  return exitCode === undefined ? 'ran' : `ran, with exit code ${exitCode}`;
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
      // Without text it stands in for a message that could not be read.
      return message.text === '' ? [] : ['## You', ...said(message.text), ...said(message.answer)];
    case 'steering':
      return message.kind === 'notice' || message.kind === 'summary'
        ? [`> ${closedMarkdown(message.text).replaceAll('\n', '\n> ')}`]
        : [];
  }
}

function prompt({ text, attachments = [] }: UserMessage): string[] {
  const files = attachments.map(({ path, startLine, endLine, image }) =>
    image
      ? `\`${path}\` (image, ${image.bytes} bytes)`
      : startLine === undefined
        ? `\`${path}\``
        : `\`${path}:${startLine}-${endLine ?? startLine}\``,
  );
  return ['## You', ...said(text), ...(files.length > 0 ? [`Attached: ${files.join(', ')}`] : [])];
}

function answer({ text, toolCalls, error }: AssistantMessage): string[] {
  const calls = toolCalls.map(call => `**${call.name}**\n\n${fenced(call.arguments, 'json')}`);
  const body = [...said(text), ...calls, ...(error === undefined ? [] : [closedMarkdown(`*${error}*`)])];
  return body.length === 0 ? [] : ['## Redline', ...body];
}

/** The text as a part of its own, unless there is nothing to read. */
function said(text: string): string[] {
  return text.trim() === '' ? [] : [closedMarkdown(text)];
}

function result({ toolName, content, isError }: ToolResultMessage): string[] {
  return [`**${toolName}**: ${isError ? 'failed' : 'result'}`, fenced(content)];
}
