import type { Message } from 'discord.js';
import { echo } from '../answers/echo.js';
import { answerMessage } from '../answers/prefix.js';
import { nearest } from '../directory/nearest.js';
import { visibleAmong } from '../directory/visible.js';
import type { CommandRoomParts } from '../parts.js';
import { leavesOf } from '../registry/entry.js';
import type { Registry } from '../registry/registry.js';
import { answerFailure } from './answer-failure.js';
import type { Execution } from './execute.js';
import { NOT_AVAILABLE } from './interactions.js';
import { actorOf } from './message.js';
import type { Recognised } from './recognise.js';

/** `!!` is another bot's prefix, not a slip. */
const LIKE_A_NAME = /^[\p{L}\p{N}]/u;

type Parts = Pick<CommandRoomParts, 'enabledIn' | 'boundary'>;

/**
 * Says of a command whose plugin is switched off here that it is not available. Answers "did you mean" to one that does not exist, if something
 * near does and the member may use it there.
 * Silent otherwise, for other bots may share the prefix; after a mention and in direct messages too, where the words are meant for `ai`.
 */
export function createSuggester({ enabledIn, boundary }: Parts, registry: Registry, execution: Execution) {
  const candidates = (word: string, guildId: string | null) =>
    nearest(word, registry.names()).flatMap((name) => {
      const entry = registry.find(name);
      const usable = entry !== undefined && entry.surface !== 'slash' && enabledIn(guildId, entry.owner.plugin);
      return usable ? [{ name, entry }] : [];
    });

  return (message: Message, { prefix, word }: Recognised): void => {
    const addressed = message.guildId !== null && !prefix.startsWith('<@') && LIKE_A_NAME.test(word);
    if (!addressed || !message.channel.isSendable()) return;
    const { channel } = message;
    const off = registry.find(word);
    if (off !== undefined && off.surface !== 'slash') {
      const answers = answerMessage(message, channel, { ...execution, signal: off.owner.scope.signal });
      const say = () => answers.reply({ content: NOT_AVAILABLE, notice: true });
      void boundary.run(off.owner, message.guildId, 'command that is switched off', say);
      return;
    }
    const near = candidates(word, message.guildId);
    const [first] = near;
    if (first === undefined) return;
    const answers = answerMessage(message, channel, { ...execution, signal: first.entry.owner.scope.signal });
    const actor = actorOf(message);
    void boundary.run(first.entry.owner, message.guildId, 'command suggestion', async () => {
      try {
        for (const { name, entry } of near) {
          const { visible } = await visibleAmong(execution.access, actor, leavesOf(entry));
          if (visible.length === 0) continue;
          const content = `There is no ${echo(prefix + word)}. Did you mean ${echo(prefix + name)}?`;
          await answers.reply({ content, notice: true });
          return;
        }
      } catch (error) {
        const { log } = first.entry.owner;
        const failed = { what: 'command suggestion', actor, error, log, forOperator: false };
        await answerFailure(execution, failed, answers);
      }
    });
  };
}
