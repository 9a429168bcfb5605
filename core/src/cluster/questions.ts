import {
  type Answers,
  CinnabarError,
  type ClusterStatus,
  currentLocale,
  type Language,
  type Logger,
  type ProcessAnswers,
  type Question,
  type QuestionDefinition,
  speaking,
  z,
} from '@cinnabar/sdk';
import type { Boundary, Owner } from '../contracts.js';
import { groupOf } from '../gateway/partition.js';
import type { AskOptions, Assignment, ClusterChannel, RequestKind } from './assignment.js';

export interface QuestionService {
  question<B, T>(owner: Owner, definition: QuestionDefinition<B, T>): Question<B, T>;
}

/** A question with the language of the requester, who reads refusals. */
interface Asked<B> {
  readonly input: B;
  readonly locale: string;
}

const DEADLINE_MS = 10_000;
const NAME = /^[a-z][a-z\d-]{0,31}$/;

/** Sends plugins' questions to the hosts of the other groups, if there are any. */
export function createQuestions(
  assignment: Pick<Assignment, 'channel' | 'member' | 'partition' | 'status'> | undefined,
  {
    boundary,
    languageFor,
    log,
  }: {
    readonly boundary: Pick<Boundary, 'track'>;
    readonly languageFor: (locale: string) => Language | undefined;
    readonly log: Logger;
  },
): QuestionService {
  const names = new Set<string>();

  return {
    question<B, T>(owner: Owner, definition: QuestionDefinition<B, T>): Question<B, T> {
      const { name, input, answer, run, deadlineMs = DEADLINE_MS } = definition;
      const { scope } = owner;
      if (!NAME.test(name)) {
        const detail = 'lower case letters, digits and "-", at most 32';
        throw new CinnabarError('CINNABAR_NAME_INVALID', { kind: 'question', name, detail });
      }
      const asked = z.object({ input, locale: z.string() });
      const kind: RequestKind<Asked<B>, T> = { name: `${owner.id}/${name}`, body: asked, answer };
      if (names.has(kind.name))
        throw new CinnabarError('CINNABAR_NAME_TAKEN', { kind: 'question', name, plugin: owner.id });
      const runHere = (body: B) => boundary.track(owner, async () => run(body, scope.signal));
      const runFor = ({ input, locale }: Asked<B>) => speaking(languageFor(locale), () => runHere(input));
      const requestFor = (input: B): Asked<B> => ({ input, locale: currentLocale() });
      const endAnswering = assignment?.channel.answer(kind, runFor);
      /** The answer includes the name of the process, because the group may have moved since the request was made. */
      const named: RequestKind<Asked<B>, { readonly process: string; readonly answer: T }> = {
        name: `${kind.name}@process`,
        body: asked,
        answer: z.object({ process: z.string(), answer }),
      };
      const endNaming = assignment?.channel.answer(named, async (body) => ({
        process: assignment.member.name,
        answer: await runFor(body),
      }));
      names.add(kind.name);
      scope.add(`question ${name}`, () => {
        names.delete(kind.name);
        endAnswering?.();
        endNaming?.();
      });
      if (assignment === undefined)
        return {
          everywhere: async (body) => ({ answers: [await runHere(body)], missing: 0 }),
          eachProcess: async (body) => ({
            answers: [{ process: undefined, answer: await runHere(body) }],
            missing: [],
          }),
          of: async (_, body) => runHere(body),
        };

      const { channel, member, partition } = assignment;
      const ask = (group: number, body: B) =>
        channel.ask(group, kind, requestFor(body), { deadlineMs, signal: scope.signal });
      return {
        async everywhere(body): Promise<Answers<T>> {
          const others = Array.from({ length: partition.groups }, (_, group) => group).filter(
            (group) => group !== partition.group,
          );
          const [own, ...given] = await Promise.all([
            runHere(body),
            ...others.map((group) =>
              ask(group, body).then(
                (one) => [one],
                (error: unknown) => {
                  log.info('a question of a plugin was not answered for a group', {
                    question: kind.name,
                    group,
                    error,
                  });
                  return [];
                },
              ),
            ),
          ]);
          const answers = given.flat();
          return { answers: [own, ...answers], missing: others.length - answers.length };
        },
        async eachProcess(body): Promise<ProcessAnswers<T>> {
          const [own, others] = await Promise.all([
            runHere(body),
            askOtherProcesses(assignment, named, requestFor(body), { deadlineMs, signal: scope.signal }, log),
          ]);
          for (const one of others)
            if (one.state === 'silent') {
              const { process, error } = one;
              log.info('a question of a plugin was not answered by a process', { question: kind.name, process, error });
            }
          return {
            answers: [
              { process: member.name, answer: own },
              ...others.flatMap((one) => (one.state === 'answered' ? [one.answer] : [])),
            ],
            missing: others.flatMap((one) => (one.state === 'silent' ? [one.process] : [])),
          };
        },
        of: async (guildId, body) =>
          partition.owns(guildId) ? runHere(body) : ask(groupOf(guildId, partition.groups), body),
      };
    },
  };
}

/** The result of a request to a process. `idle`: it serves no group, and so receives no request. */
export type ProcessAnswer<T> = { readonly process: string } & (
  | { readonly state: 'answered'; readonly answer: T }
  | { readonly state: 'silent'; readonly error: unknown }
  | { readonly state: 'idle' }
);

/** Sends one request to each process, to one of its groups. Never rejects. */
export function askProcesses<B, T>(
  ask: ClusterChannel['ask'],
  { processes, groups }: Pick<ClusterStatus, 'processes' | 'groups'>,
  kind: RequestKind<B, T>,
  body: B,
  options: AskOptions,
): Promise<readonly ProcessAnswer<T>[]> {
  const isServed = (group: number) => groups.some((one) => one.group === group && one.isServed);
  return Promise.all(
    processes.map(async ({ name: process, groups: held }) => {
      // A group that still starts answers later.
      const group = held.find(isServed) ?? held[0];
      if (group === undefined) return { process, state: 'idle' };
      try {
        return { process, state: 'answered', answer: await ask(group, kind, body, options) };
      } catch (error) {
        return { process, state: 'silent', error };
      }
    }),
  );
}

/** Sends a request to the other processes of the cluster; to none while they cannot be read from the database. Never rejects. */
export async function askOtherProcesses<B, T>(
  { channel, partition, status }: Pick<Assignment, 'channel' | 'partition' | 'status'>,
  kind: RequestKind<B, T>,
  body: B,
  options: AskOptions,
  log: Logger,
): Promise<readonly ProcessAnswer<T>[]> {
  try {
    const { groups = [], processes = [] } = (await status()) ?? {};
    const others = processes.filter((one) => !one.groups.includes(partition.group));
    return await askProcesses(channel.ask, { groups, processes: others }, kind, body, options);
  } catch (error) {
    log.info('the processes of the cluster are not known', { error });
    return [];
  }
}
