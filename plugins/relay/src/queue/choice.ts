import type { Entry, Line, Parcel } from './book.js';

/** What a channel's next attempt is about. */
export type Choice =
  /** The same once more. */
  | { readonly is: 'parcel'; readonly agent: string; readonly parcel: Parcel }
  | { readonly is: 'entries'; readonly agent: string; readonly entries: readonly Entry[] }
  /** Nobody may be told of anything before this, in milliseconds since the Unix epoch. */
  | { readonly is: 'none'; readonly until: number };

export interface ChoiceRules {
  readonly now: number;
  /** From when the agent may be told, of this parcel if one is named. */
  readonly readyAt: (agent: string, parcel: Parcel | undefined) => number;
  /** How many events go together. */
  readonly most: number;
}

interface Unit {
  readonly agent: string;
  readonly n: number;
  readonly entry?: Entry;
  readonly parcel?: Parcel;
}

/**
 * The oldest comes first, and with it what follows for the same agent, as far as nothing for another one lies between. Only an agent that
 * cannot be told yet is passed over, with all that is for it: so each agent hears of a channel in order, and none waits for another that
 * is broken.
 */
export function choose(line: Line, { now, readyAt, most }: ChoiceRules): Choice {
  const held = new Set<string>();
  const together: Entry[] = [];
  let agent: string | undefined;
  let until = Number.POSITIVE_INFINITY;

  for (const unit of unitsOf(line)) {
    if (held.has(unit.agent)) continue;
    if (unit.agent !== agent) {
      const at = readyAt(unit.agent, unit.parcel);
      if (at > now) {
        held.add(unit.agent);
        until = Math.min(until, at);
        continue;
      }
      if (agent !== undefined) break;
      agent = unit.agent;
    }
    if (unit.parcel !== undefined) return { is: 'parcel', agent, parcel: unit.parcel };
    if (unit.entry !== undefined) together.push(unit.entry);
    if (together.length >= most) break;
  }
  return agent === undefined ? { is: 'none', until } : { is: 'entries', agent, entries: together };
}

function unitsOf({ waiting, parcels }: Line): readonly Unit[] {
  const sent = parcels.flatMap((parcel) =>
    parcel.entries.slice(0, 1).map(({ n, event }): Unit => ({ agent: event.agent, n, parcel })),
  );
  return [...sent, ...waiting.map((entry): Unit => ({ agent: entry.event.agent, n: entry.n, entry }))].sort(
    (a, b) => a.n - b.n,
  );
}
