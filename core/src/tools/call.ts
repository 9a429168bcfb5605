import type {
  Actor,
  CallCard,
  CallState,
  LedgerEntry,
  Logger,
  Place,
  SettledOutcome,
  ToolCall,
  ToolPolicy,
  ToolProgress,
  ToolSession,
  ToolStep,
} from '@cinnabar/sdk';
import type { Arguments } from './arguments.js';
import type { AuditTrail } from './audit.js';
import type { CallLedger, RowDetails } from './ledger/ledger.js';
import { reasonOf } from './outcomes.js';
import type { RegisteredTool } from './registry.js';

/** What is fixed about a call when it is proposed. */
export interface Proposal {
  readonly id: string;
  readonly tool: RegisteredTool;
  readonly input: Arguments;
  /** SHA-256 of the canonical arguments, hex. */
  readonly argumentsHash: string;
  readonly actor: Actor;
  /** Where it takes effect, when that is not where the actor is. */
  readonly at: Place | undefined;
  readonly origin: string;
  /** Others whose words led to it. */
  readonly alongside: readonly Actor[];
  readonly reading: ToolCall['reading'];
  readonly session: ToolSession | undefined;
  readonly step: ToolStep | undefined;
  /** What the tool is told to tell attempts of one call by. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly card: CallCard;
  readonly policy: ToolPolicy | undefined;
  readonly messageId: string | undefined;
  /** Of its result's text. */
  readonly mostCharacters: number;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
}

/** A call under way in this process. Its state is the ledger's; this adds what only memory can hold. */
export interface LiveCall extends Proposal {
  readonly trail: AuditTrail;
  /** Whether its result is kept from readers without access although no member has decided on the call. */
  keptPrivate: boolean;
  /** Resolves with the one outcome, once it is in the ledger. */
  readonly ended: Promise<SettledOutcome>;
  /** Its row; `undefined` once it has ended. */
  row(): LedgerEntry | undefined;
  /** Compare and swap: `false` when it was in none of the states `from`. @throws CINNABAR_STORAGE_WRITE */
  move(from: readonly CallState[], to: CallState, add?: RowDetails): Promise<boolean>;
  /** Compare and swap into the outcome's own state. @throws CINNABAR_STORAGE_WRITE */
  end(from: readonly CallState[], outcome: SettledOutcome, add?: RowDetails): Promise<boolean>;
  /**
   * Ends it with `outcome` unless it runs or has ended, and resolves with how it did end. Never rejects: what cannot be
   * written is abandoned.
   */
  settle(outcome: SettledOutcome): Promise<SettledOutcome>;
  /** For when nothing can be written: the row stays as it is for the next start to resolve, and nothing moves the call any more. */
  abandon(outcome: SettledOutcome, error: unknown): Promise<SettledOutcome>;
}

/** States in which a call can still be refused. */
const NOT_RUN = ['proposed', 'pending', 'approved'] as const;
const LONGEST_STORED_TEXT = 4_000;

interface Parts {
  readonly ledger: CallLedger;
  readonly log: Logger;
  readonly trail: AuditTrail;
  readonly proposal: Proposal;
}

export function createLiveCall({ ledger, log, trail, proposal }: Parts): LiveCall {
  const { id } = proposal;
  let abandoned = false;
  let tell: (outcome: SettledOutcome) => void = () => undefined;
  const ended = new Promise<SettledOutcome>((resolve) => {
    tell = resolve;
  });
  const move: LiveCall['move'] = async (from, to, add) => {
    if (abandoned) return false;
    const moved = await ledger.move(id, from, to, add);
    // Abandoned while this move waited for its turn: its end has been told, so nothing may follow from the move.
    return moved !== undefined && !abandoned;
  };
  const end: LiveCall['end'] = async (from, outcome, add) => {
    const moved = await move(from, outcome.status, { ...add, ...detailsOf(outcome) });
    if (moved) tell(outcome);
    return moved;
  };

  const abandon: LiveCall['abandon'] = (outcome, error) => {
    log.error('how a call ended could not be saved', { callId: id, outcome: outcome.status, error });
    abandoned = true;
    tell(outcome);
    return ended;
  };

  return {
    ...proposal,
    trail,
    keptPrivate: false,
    ended,
    row: () => (abandoned ? undefined : ledger.underWay(id)),
    move,
    end,
    abandon,
    async settle(outcome) {
      try {
        await end(NOT_RUN, outcome);
        return await ended;
      } catch (error) {
        return abandon(outcome, error);
      }
    },
  };
}

function detailsOf(outcome: SettledOutcome): RowDetails {
  if (outcome.status === 'done') {
    const { text, sources, audience } = outcome;
    return {
      text: text.slice(0, LONGEST_STORED_TEXT),
      ...(sources === undefined ? {} : { sources }),
      ...(audience === undefined ? {} : { audience }),
    };
  }
  return { reason: reasonOf(outcome).slice(0, LONGEST_STORED_TEXT) };
}
