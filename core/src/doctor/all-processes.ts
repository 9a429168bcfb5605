import {
  CinnabarError,
  type ClusterStatus,
  currentLocale,
  type Doctor,
  type DoctorFinding,
  type ErrorCode,
  type Logger,
  speaking,
  t,
  z,
} from '@cinnabar/sdk';
import type { Assignment, ClusterChannel, RequestKind } from '../cluster/assignment.js';
import { askOtherProcesses, askProcesses, type ProcessAnswer } from '../cluster/questions.js';
import type { LanguageService } from '../languages/languages.js';
import { CHECK_LIMIT_MS, type FindingScope, type ScopedFinding } from './all-checks.js';

/** Longer than the time limit of the checks in each process. */
const DEADLINE_MS = CHECK_LIMIT_MS + 3_000;
/** The scopes that each process checks for itself. */
const OF_PROCESS: readonly FindingScope[] = ['process', 'plugin'];

const UNANSWERED: readonly ErrorCode[] = ['CINNABAR_CLUSTER_NO_ANSWER', 'CINNABAR_CLUSTER_NOT_SERVED'];

interface ProcessFindings {
  readonly process: string;
  readonly findings: readonly ScopedFinding[];
}

const EXAMINE: RequestKind<{ readonly locale: string }, ProcessFindings> = {
  name: 'doctor.examine',
  body: z.object({ locale: z.string() }),
  answer: z.object({
    process: z.string(),
    findings: z.array(
      z.object({
        about: z.string(),
        ok: z.boolean(),
        text: z.string(),
        remedy: z.string().optional(),
        scope: z.enum(['bot', 'process', 'plugin']),
      }),
    ),
  }),
};

/** @param scopes all where it is left out */
export type Examine = (scopes?: readonly FindingScope[]) => Promise<readonly ScopedFinding[]>;

/** The doctor of a cluster: each process examines itself, in the language of the requesting user; checks about the whole bot run here. */
export function shareDoctor(
  examine: Examine,
  assignment: Pick<Assignment, 'channel' | 'member' | 'partition' | 'status'>,
  { languages, log }: { readonly languages: Pick<LanguageService, 'find'>; readonly log: Logger },
): Doctor {
  const { channel, member } = assignment;
  const process = member.name;
  channel.answer(EXAMINE, ({ locale }) =>
    speaking(languages.find(locale), async () => ({ process, findings: await examine(OF_PROCESS) })),
  );
  return {
    async examine() {
      const [findings, others] = await Promise.all([
        examine(),
        // When the other processes cannot be listed, the check of the database reports why.
        askOtherProcesses(assignment, EXAMINE, { locale: currentLocale() }, { deadlineMs: DEADLINE_MS }, log),
      ]);
      return findingsOfAll({ process, findings }, others);
    },
  };
}

/** Requests the findings of processes, from outside of the cluster. Never rejects. */
export const examineProcesses = (
  ask: ClusterChannel['ask'],
  status: ClusterStatus,
): Promise<readonly ProcessAnswer<ProcessFindings>[]> =>
  askProcesses(ask, status, EXAMINE, { locale: currentLocale() }, { deadlineMs: DEADLINE_MS });

/**
 * The findings about the whole bot, then those of each process under its name. A finding of plugins that is equal in all processes counts as one about the
 * whole bot.
 * @param own those of the requesting process; without a name when it is not in the cluster
 */
export function findingsOfAll(
  own: { readonly process?: string; readonly findings: readonly ScopedFinding[] },
  others: readonly ProcessAnswer<ProcessFindings>[],
): readonly DoctorFinding[] {
  const answered = others.flatMap((one) => (one.state === 'answered' ? [one.answer] : []));
  const isEverywhere = (finding: ScopedFinding) =>
    [own, ...answered].every(({ findings }) => findings.some((other) => isSame(finding, other)));
  const isOfBot = (finding: ScopedFinding) =>
    finding.scope === 'bot' || (finding.scope === 'plugin' && isEverywhere(finding));
  const ofProcess = ({ process, findings }: ProcessFindings) => ({
    process,
    findings: findings
      .filter((finding) => !isOfBot(finding))
      .map(({ scope: _, ...finding }) => ({ ...finding, process })),
  });
  const parts = others.map((one) =>
    one.state === 'answered' ? ofProcess(one.answer) : { process: one.process, findings: [unexamined(one)] },
  );
  const { process, findings } = own;
  if (process !== undefined) parts.push(ofProcess({ process, findings }));
  return [
    ...findings
      .filter((finding) => process === undefined || isOfBot(finding))
      .map(({ scope: _, ...finding }) => finding),
    ...parts.toSorted((one, other) => one.process.localeCompare(other.process)).flatMap((part) => part.findings),
  ];
}

const isSame = (one: ScopedFinding, other: ScopedFinding) =>
  one.about === other.about && one.ok === other.ok && one.text === other.text;

function unexamined(answer: Exclude<ProcessAnswer<unknown>, { state: 'answered' }>): DoctorFinding {
  const { process } = answer;
  const about = t('process');
  if (answer.state === 'idle')
    return { process, about, ok: true, text: t('It serves no servers at the moment, and was not examined') };
  if (answer.error instanceof CinnabarError && UNANSWERED.includes(answer.error.code))
    return {
      process,
      about,
      ok: false,
      text: t('There was no answer within {seconds} s.', { seconds: DEADLINE_MS / 1_000 }),
      remedy: t('Its log says more. `cluster` tells whether it still serves servers.'),
    };
  return {
    process,
    about,
    ok: false,
    text: t('It could not be examined'),
    remedy: t('Its log says why. A process of an earlier version cannot examine itself for others.'),
  };
}
