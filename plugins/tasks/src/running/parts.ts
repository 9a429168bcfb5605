import type {
  Access,
  Accounts,
  Actor,
  Approvals,
  Clock,
  Llm,
  Logger,
  Provenance,
  TaskMessage,
  Tools,
} from '@cinnabar/sdk';
import type { Notices } from '../discord/notices.js';
import type { Speaker } from '../discord/speaker.js';
import type { StatusBoard } from '../discord/status-board.js';
import type { ShowTyping } from '../discord/typing.js';
import type { Journal } from '../journal/journal.js';
import type { Slots } from '../scheduling/slots.js';
import type { TaskSettings } from '../settings.js';

/** What a runner works with. */
export interface RunParts {
  readonly journal: Journal;
  readonly slots: Slots;
  readonly speaker: Speaker;
  readonly notices: Notices;
  readonly showTyping: ShowTyping;
  readonly board: StatusBoard;
  readonly settings: TaskSettings;
  readonly llm: Llm | undefined;
  readonly tools: Tools;
  readonly access: Access;
  readonly provenance: Pick<Provenance, 'mayShow' | 'mayHave'>;
  readonly accounts: Accounts | undefined;
  readonly approvals: Approvals | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the plugin stops. */
  readonly signal: AbortSignal;
  /** Whether a person is still in the guild; asks Discord. */
  isStillThere(actor: Actor): Promise<boolean>;
  /** What the bot is called where the task is. */
  selfName(guildId: string | null): string;
  /** Tells other surfaces what a task has said. */
  tell(message: TaskMessage): void;
}
