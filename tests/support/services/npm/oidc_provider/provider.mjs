// node provider.mjs '{"modules", "port", "issuer", "client", "secret", "redirects", "people"}'
//
// The certified provider, with its own pages for sign-in and consent. A person is a login of `people`, with any password.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const settings = JSON.parse(process.argv[2]);
const entry = pathToFileURL(join(settings.modules, 'oidc-provider', 'lib', 'index.js'));
const { default: Provider } = await import(entry);

const provider = new Provider(settings.issuer, {
  clients: [{
    client_id: settings.client,
    client_secret: settings.secret,
    redirect_uris: settings.redirects,
    post_logout_redirect_uris: [],
  }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
  cookies: { keys: ['a key of the tests'] },
  findAccount: (_, login) => login in settings.people
    ? { accountId: login, claims: () => ({ sub: login, ...settings.people[login] }) }
    : undefined,
});
provider.on('server_error', (_, error) => console.error(error));
provider.on('grant.error', (_, error) => console.error('grant.error', error.message, error.error_detail));
provider.listen(settings.port, '127.0.0.1', () => console.log('listening'));
