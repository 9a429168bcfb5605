import { type DoctorFinding, replyPrivately, t } from '@cinnabar/sdk';
import type { AdminContext } from './context.js';

/** `!doctor`: whether everything is there that the bot needs to run. */
export function registerDoctor({ command, services }: AdminContext): void {
  command({
    name: 'doctor',
    reads: true,
    description: 'Check token, intents, permissions, keys, servers, data and clock, each with its remedy',
    help: 'The same as `cinnabar doctor` on the machine of the bot. The answer comes as a direct message.',
    access: { tier: 'botOwner' },
    ephemeral: true,
    cooldown: { uses: 2, perMs: 60_000 },
    async run(ctx) {
      await ctx.defer();
      const findings = await services.doctor.examine();
      const failed = findings.filter(({ ok }) => !ok).length;
      const heading =
        failed === 0
          ? t('Everything is as it should be.')
          : t('{failed, plural, one {# thing is not as it should be.} other {# things are not as they should be.}}', {
              failed,
            });
      await replyPrivately(ctx, { content: [...findings.map(lineOf), heading].join('\n') });
    },
  });
}

function lineOf({ ok, about, text, remedy }: DoctorFinding): string {
  return `${ok ? '✓' : '✗'} **${about}**: ${text}${remedy === undefined ? '' : `\n-# ${remedy}`}`;
}
