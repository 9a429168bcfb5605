import { type Actor, type Logger, type ToolSource, toolSource, z } from '@cinnabar/sdk';
import type { ProvenanceService } from '../access/visibility.js';
import { groupOf } from '../gateway/partition.js';
import type { Assignment, RequestKind } from './assignment.js';
import { objectWith } from './channel.js';

const DEADLINE = { deadlineMs: 10_000 };

type Sources = readonly ToolSource[];

const MAY_SHOW: RequestKind<{ readonly sources: Sources; readonly to: readonly Actor[] }, boolean> = {
  name: 'provenance.may-show',
  body: z.object({ sources: z.array(toolSource), to: z.array(objectWith<Actor>('userId')) }),
  answer: z.boolean(),
};
const MAY_HAVE: RequestKind<{ readonly sources: Sources; readonly userId: string }, boolean> = {
  name: 'provenance.may-have',
  body: z.object({ sources: z.array(toolSource), userId: z.string() }),
  answer: z.boolean(),
};

/**
 * Decides who may be shown stored content. For sources in servers of other groups, their hosts decide who may read there, and which messages still exist.
 */
export function shareProvenance(
  own: ProvenanceService,
  { channel, partition }: Pick<Assignment, 'channel' | 'partition'>,
  log: Logger,
): ProvenanceService {
  channel.answer(MAY_SHOW, ({ sources, to }) => own.mayShow(sources, to));
  channel.answer(MAY_HAVE, ({ sources, userId }) => own.mayHave(sources, userId));

  /** Whether all sources may be shown. Sources of this group are checked first, since they cost no request. */
  const holdsForAll = async (
    sources: Sources | undefined,
    holdsHere: (own: Sources | undefined) => Promise<boolean>,
    holdsIn: (group: number, its: Sources) => Promise<boolean>,
  ) => {
    const isForeign = ({ guildId }: ToolSource) => !partition.owns(guildId);
    if (!(await holdsHere(sources?.filter((source) => !isForeign(source))))) return false;
    const foreign = new Map<number, ToolSource[]>();
    for (const source of sources?.filter(isForeign) ?? []) {
      const group = groupOf(source.guildId, partition.groups);
      foreign.set(group, [...(foreign.get(group) ?? []), source]);
    }
    try {
      const answers = await Promise.all([...foreign].map(([group, its]) => holdsIn(group, its)));
      return answers.every(Boolean);
    } catch (error) {
      log.warn('it could not be found out who may be shown a result, so it is not shown', { error });
      return false;
    }
  };

  return {
    ...own,
    mayShow: (sources, to) =>
      holdsForAll(
        sources,
        (its) => own.mayShow(its, to),
        (group, its) => channel.ask(group, MAY_SHOW, { sources: its, to }, DEADLINE),
      ),
    mayHave: (sources, userId) =>
      holdsForAll(
        sources,
        (its) => own.mayHave(its, userId),
        (group, its) => channel.ask(group, MAY_HAVE, { sources: its, userId }, DEADLINE),
      ),
  };
}
