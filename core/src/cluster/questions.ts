import {
  type Answers,
  CinnabarError,
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
import type { Assignment, RequestKind } from './assignment.js';
import { askOtherProcesses } from './processes.js';

export interface QuestionService {
  question<B, T>(owner: Owner, definition: QuestionDefinition<B, T>): Question<B, T>;
}

/** With the language of the requester, whom refusals are for. */
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
      /** With the name of the process: the group that was asked may have moved. */
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
