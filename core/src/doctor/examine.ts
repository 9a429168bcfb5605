import {
  type CheckResult,
  type Clock,
  createDeadline,
  type DoctorFinding,
  operatorSentenceOf,
  t,
  withinLimit,
} from '@cinnabar/sdk';

/** One thing to look at. */
export interface Check {
  /** `Discord`, `data`, or a plugin's id. */
  readonly about: string;
  run(signal: AbortSignal): Promise<readonly CheckResult[]> | readonly CheckResult[];
}

/** How long one check may take. */
const LIMIT_MS = 15_000;

interface ExamineParts {
  readonly clock: Clock;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
}

/** Runs all checks at once, each within its time. What a check throws is a finding, too. Never rejects. */
export async function examine(
  checks: readonly Check[],
  { clock, redact }: ExamineParts,
): Promise<readonly DoctorFinding[]> {
  const found = await Promise.all(
    checks.map(async ({ about, run }) => (await resultsOf(run, clock)).map((result) => ({ about, ...result }))),
  );
  return found.flat().map(({ about, ok, text, remedy }) => ({
    about,
    ok,
    text: redact(text),
    ...(ok || remedy === undefined ? {} : { remedy: redact(remedy) }),
  }));
}

async function resultsOf(run: Check['run'], clock: Clock): Promise<readonly CheckResult[]> {
  const deadline = createDeadline(clock, LIMIT_MS, []);
  try {
    const work = Promise.resolve(run(deadline.signal));
    const limited = await withinLimit(clock, LIMIT_MS, work);
    if (limited.inTime) return limited.value;
    return [
      {
        ok: false,
        text: t('There was no answer within {seconds} s.', { seconds: LIMIT_MS / 1_000 }),
        remedy: NETWORK(),
      },
    ];
  } catch (error) {
    const because = operatorSentenceOf(error) ?? (error instanceof Error ? reasonOf(error) : String(error));
    return [{ ok: false, text: t('This could not be checked: {because}', { because }), remedy: NETWORK() }];
  } finally {
    deadline.end();
  }
}

const NETWORK = () => t('Look at the address, and at the network of the machine.');

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: Error): string {
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}
