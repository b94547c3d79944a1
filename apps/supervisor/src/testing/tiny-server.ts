// A child for the supervisor's tests: answers with its pid on the port it is given. "stubborn" makes it ignore SIGTERM;
// asked for /wait it waits for what never comes, for /work?ms=N it works so long, and does nothing else meanwhile.
import { createServer } from 'node:http';

const [port, manner] = process.argv.slice(2);
if (manner === 'stubborn') process.on('SIGTERM', () => undefined);
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
  if (pathname === '/wait') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (pathname === '/work') {
    const until = performance.now() + Number(searchParams.get('ms'));
    while (performance.now() < until) Math.random();
  }
  response.end(String(process.pid));
}).listen(Number(port), '127.0.0.1');
