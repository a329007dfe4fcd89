/** What applying a preview does, where that has a verb of its own. */
export type PreviewFace = 'change' | 'create' | 'delete' | 'rename' | 'run' | 'call' | 'approve';
