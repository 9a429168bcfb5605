import { directs } from './agents/directs.js';
import { rosters } from './agents/roster.js';
import { lettaCollections } from './letta/collections.js';
import { days } from './presence/budget.js';
import { digests } from './presence/digests.js';
import { startedThreads } from './presence/own-threads.js';
import { posts } from './presence/posts.js';
import { wakes } from './presence/wakes.js';
import { errorCollections } from './resilience/error-log.js';

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
