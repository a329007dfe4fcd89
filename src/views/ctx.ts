import type * as vscode from 'vscode';
import type { Agent } from './agent.ts';
import type { ChatPanel } from './chat/chatPanel.ts';
import type { Commenting } from './review/comments/commenting.ts';
import type { TextDocuments } from './diagnostics/textDocuments.ts';
import type { PendingView } from './review/pending/pendingView.ts';
import type { LookedAt } from './review/lookedAt.ts';
import type { ProposalEdits } from './review/documents/proposalEdits.ts';
import type { Overview } from './review/overview.ts';
import type { OtherAgents } from './agents/otherAgents.ts';
import type { PreviewOpener } from './review/previewOpener.ts';
import type { PreviewTabs } from './review/previewTabs.ts';
import type { ReviewList } from './review/reviewList.ts';
import type { ShownRevisions } from './review/shownRevisions.ts';

/** Dependencies of commands: the agent, and the views built on it. */
export interface Ctx extends Agent {
  readonly chat: ChatPanel;
  readonly commenting: Commenting;
  readonly edits: ProposalEdits;
  readonly looks: LookedAt;
  readonly opener: PreviewOpener;
  readonly otherAgents: OtherAgents;
  readonly overview: Overview;
  readonly pendingView: PendingView;
  readonly review: ReviewList;
  readonly shown: ShownRevisions;
  readonly tabs: PreviewTabs;
  /** Documents that are only shown. */
  readonly texts: TextDocuments;
  /** Folder that the extension is installed in. */
  readonly extensionPath: string;
  readonly globalStorage: vscode.Uri;
}
