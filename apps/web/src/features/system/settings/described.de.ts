import type { SettingKey } from '@sallyport/contract';

/** Was jede Einstellung tut. In Englisch sagt es der Server. */
export const described: Readonly<Record<SettingKey, string>> = {
  'app.public_url': 'Öffentliche Adresse dieses Dienstes, für Links in Einladungen. Leer: nicht eingerichtet.',
  'feature.guard.enabled': 'Hauptschalter des Schutzes.',
  'security.acl.enabled': 'Zugriffslisten durchsetzen.',
  'security.waf.enabled': 'Die Firewall prüft Anfragen.',
  'security.rate_limit.enabled': 'Die Anfragengrenze durchsetzen.',
  'security.crowdsec.enabled': 'CrowdSec laufen lassen und seine Sperren durchsetzen.',
  'security.block_log.entries':
    'Wie viele abgewiesene Anfragen aufbewahrt werden, damit sich ihre Kennungen erklären lassen. 0: keine.',
  'auth.require_totp':
    'Von allen den zweiten Faktor verlangen; wer ihn nicht eingerichtet hat, kann vorher nichts anderes tun.',
  'audit.retention_days': 'Einträge im Prüfprotokoll, die älter sind als so viele Tage, werden entfernt. 0: nie.',
  'history.retention_days':
    'Änderungen, die älter sind als so viele Tage, werden nicht mehr gezeigt und lassen sich nicht zurücknehmen. 0: keine wegen ihres Alters.',
  'history.max_megabytes': 'Wie viel Platz der Verlauf einnehmen darf; die ältesten Änderungen gehen zuerst.',
  'backup.schedule':
    'Wann Backups von selbst entstehen: Minute, Stunde, Tag des Monats, Monat, Wochentag, etwa 0 3 * * *, in der Ortszeit des Servers. Leer: nie.',
  'backup.passphrase':
    'Verschlüsselt geplante und automatische Backups, die dann den Schlüssel dieses Betriebs enthalten und kopiert werden dürfen. Leer: sie sind nicht verschlüsselt.',
  'backup.keep': 'Wie viele geplante Backups bleiben, und wie viele automatische. Das neueste gültige bleibt immer.',
  'backup.copy_url':
    'Wohin Backups kopiert werden: https://endpoint/bucket/prefix eines Dienstes wie S3, oder sftp://user@host/verzeichnis. Leer: nirgendwohin.',
  'backup.copy_unencrypted':
    'Auch Backups ohne Passphrase kopieren. Wer die Kopien lesen kann, liest dann Hosts, Konten und Hashes von Passwörtern.',
  'backup.copy_region': 'Region des Dienstes wie S3; wer keine hat, nimmt jede.',
  'backup.copy_access_key': 'Kennung des Zugriffsschlüssels bei dem Dienst wie S3.',
  'backup.copy_secret_key': 'Geheimer Zugriffsschlüssel bei dem Dienst wie S3.',
  'backup.copy_host_key':
    'Fingerabdruck des Schlüssels des SFTP-Rechners, SHA256:…, wie ssh-keygen -lf ihn zeigt; mehrere durch Leerzeichen getrennt. Ein Rechner, der einen anderen zeigt, erfährt nichts. Leer: keiner erfährt etwas, und die Probe der Kopien nennt den gezeigten.',
  'backup.copy_private_key':
    'Privater Schlüssel, der sich am SFTP-Rechner anmeldet, wie ssh-keygen -t ed25519 -N "" ihn schreibt. Leer: backup.copy_password gilt.',
  'backup.copy_password': 'Passwort am SFTP-Rechner, wo er keinen Schlüssel nimmt.',
  'acme.account': 'Name des Kontos, mit dem Zertifikate bestellt werden, wenn keines genannt ist. Leer: das einzige.',
  'acme.dns_provider':
    'Name des DNS-Anbieters, der die Platzhalter von Hosts mit auto_certificate beweist. Leer: sie bekommen von selbst keines.',
  'acme.dns_resolvers':
    'Wo DNS gefragt wird, wenn Zertifikate bestellt werden: Adressen von Nameservern, mit Port, wo er nicht 53 ist, etwa 192.0.2.1 [2001:db8::1]:5353. Leer: die des Systems.',
  'acme.http_port':
    'Der Port, an dem Zertifizierungsstellen für http-01 fragen: 80, außer bei einer eigenen, die anders eingerichtet ist. Auch der Blick vor einer Bestellung fragt dort.',
  'smtp.host': 'Mailserver für Einladungen. Leer: keine Mail wird verschickt, stattdessen werden Links gezeigt.',
  'smtp.port': 'Port des Mailservers.',
  'smtp.security':
    'starttls: Verschlüsselung wird nach dem Verbinden verlangt; tls: vom ersten Byte an; none: nie verschlüsselt.',
  'smtp.username': 'Konto am Mailserver. Leer: keine Anmeldung.',
  'smtp.password': 'Passwort am Mailserver.',
  'smtp.from': 'Absender der Mails. Leer: smtp.username.',
};
