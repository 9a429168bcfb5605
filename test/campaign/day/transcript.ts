import type { Harness } from './harness.js';
import { concerns, nameOf, type Sighting } from './sightings.js';

const LONGEST = 200;

/** The sightings about each request, in the order of the day. */
export function transcriptOf({ requests, sightings, speakers, admin }: Harness): readonly string[] {
  return [admin, ...speakers].flatMap((user) => {
    const codes = new Set(requests.all.filter(({ who }) => who === user).map(({ code }) => code));
    if (codes.size === 0) return [];
    const seen = sightings.all.filter((sighting) => concerns(sighting, user, codes));
    return [``, `${user.name} saw:`, ...seen.map(lineOf)];
  });
}

const VERBS = { says: '', edits: ' (edited)', deletes: ' (deleted)', reacts: ' (reacted)' } as const;

function lineOf({ at, what, message, author, text }: Sighting): string {
  const time = new Date(at).toISOString().slice(11, 19);
  const line = text.replaceAll('\n', ' ⏎ ');
  const shown = line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
  const only = message.visibleTo === undefined ? '' : ', only they';
  return `  ${time} ${nameOf(message.channel)}${only}  ${author}${VERBS[what]}: ${shown}`;
}
