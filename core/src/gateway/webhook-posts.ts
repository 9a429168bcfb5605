import { HTTPError, type RESTOptions } from 'discord.js';

type MakeRequest = RESTOptions['makeRequest'];

/** A message by a webhook, or a further answer to an interaction: `POST /webhooks/{id}/{token}`. */
const WEBHOOK_POST = /\/webhooks\/\d+\/[^/?]+(?:\?.*)?$/;

/**
 * Lets discord.js make each message by a webhook once: it repeats whatever Discord failed at, and for webhooks Discord compares no nonces, so
 * a message that was there already would be there several times. The caller gets the failure, and decides after a look at the channel.
 */
export function makeWebhookPostsOnce(makeRequest: MakeRequest): MakeRequest {
  return async (url, init) => {
    if (init.method !== 'POST' || !WEBHOOK_POST.test(url)) return makeRequest(url, init);
    const fail = (status: number, text: string, cause?: unknown) =>
      Object.assign(new HTTPError(status, text, 'POST', url, { body: undefined, files: undefined }), { cause });
    const response = await makeRequest(url, init).catch((error: unknown) => {
      // discord.js repeats after a timeout and a lost connection, but after no error of this class.
      throw fail(504, 'No answer came', error);
    });
    if (response.status >= 500) throw fail(response.status, response.statusText);
    return response;
  };
}
