import { directs } from './agents/dm-agents.js';
import { posts } from './agents/message-authors.js';
import { rosters } from './agents/roster.js';
import { days } from './budget.js';
import { errorCollections } from './error-log.js';
import { lettaCollections } from './letta/sent-prompts.js';
import { digests } from './presence/digests.js';
import { startedThreads } from './presence/messages.js';
import { wakes } from './presence/wakes.js';

/** All that the relay keeps, beside the journal of its queue. */
export const collections = {
  rosters,
  directs,
  days,
  digests,
  posts,
  startedThreads,
  wakes,
  ...errorCollections,
  ...lettaCollections,
};
