/** In `_meta` of results: how much of the ledger the agent has heard, for a later connection of it. */
export const HEARD = 'redline/heard';
