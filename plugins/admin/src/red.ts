import { type ImportContext, importSetting, redImporter, z } from '@cinnabar/sdk';
import { type collections, settings } from './context.js';

/** Where Red's Admin cog announces. Its self roles are taken over by the plugin `roles`. */
export const announcementsOfRed = redImporter({
  from: 'Admin',
  data: z.strictObject({
    guild: z
      .strictObject({ announce_channel: z.string().nullable().optional(), selfroles: z.unknown().optional() })
      .prefault({}),
  }),
  async run({ guild: { announce_channel } }, context: ImportContext<typeof settings, typeof collections>) {
    if (typeof announce_channel !== 'string') return;
    const document = context.settings.guild(context.guildId);
    const what = `announce channel ${announce_channel}`;
    await importSetting({ document, schema: settings.guild }, 'announcements', announce_channel, what, context);
  },
});
