import type { ServerResponse } from 'node:http';
import { isServed } from '../rules/signed-links.js';
import type { World } from '../state/world.js';

/** Serves attachments. What the files say is other people's: they are never shown as a page of this origin. */
export function serveFile(world: World, response: ServerResponse, url: URL): void {
  const path = decodeURI(url.pathname).replace(/^\/cdn/, '');
  const file = world.files.get(path);
  if (!file || !isServed(world, path, url.searchParams)) {
    response.writeHead(404, { 'content-type': 'text/plain' }).end('This content is no longer available.');
    return;
  }
  response.writeHead(200, {
    'content-type': file.contentType,
    'content-length': file.data.byteLength,
    'content-disposition': 'attachment',
    'x-content-type-options': 'nosniff',
  });
  response.end(file.data);
}
