/** The header with what tells an agent from all others, so that it can go on with its previews after connecting again. */
export const AGENT_HEADER = 'redline-agent';

/** The header with how much of the ledger the agent has heard, see `ClientIdentity.heard`. */
export const HEARD_HEADER = 'redline-heard';

/** In `_meta` of results: how much of the ledger the agent has heard, for a later connection of it. */
export const HEARD = 'redline/heard';
