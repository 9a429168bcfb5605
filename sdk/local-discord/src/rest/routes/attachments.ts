import { z } from 'zod';
import { signed } from '../../rules/signed-links.js';
import { route } from '../route.js';

const form = z.object({ attachment_urls: z.array(z.string()).min(1).max(50) });

export const attachmentRoutes = [
  route('POST', '/attachments/refresh-urls', ({ world, form: read }) => ({
    refreshed_urls: read(form).attachment_urls.map((original) => {
      const path = URL.canParse(original) ? decodeURI(new URL(original).pathname).replace(/^\/cdn/, '') : '';
      return { original, refreshed: world.files.has(path) ? signed(world, path) : null };
    }),
  })),
];
