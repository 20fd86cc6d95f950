{{- define "lakebed.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "lakebed.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "lakebed.labels" -}}
{{ include "lakebed.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "lakebed.account" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "lakebed.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end -}}
{{- end }}

{{- define "lakebed.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* The pod is not root, writes to no file of its image, and has no capability. */}}
{{- define "lakebed.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "lakebed.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Each key of the Secret is a file, and LAKEBED_..._FILE names it. */}}
{{- define "lakebed.env" -}}
- {name: LAKEBED_CONFIG, value: /etc/lakebed/lakebed.yaml}
{{- range .Values.secret.keys }}
- {name: LAKEBED_{{ . | upper | replace "." "_" }}_FILE, value: /run/lakebed/{{ . }}}
{{- end }}
{{- end }}

{{- define "lakebed.mounts" -}}
- {name: settings, mountPath: /etc/lakebed, readOnly: true}
- {name: secret, mountPath: /run/lakebed, readOnly: true}
- {name: temporary, mountPath: /tmp}
- {name: data, mountPath: /var/lib/lakebed}
{{- end }}

{{- define "lakebed.volumes" -}}
- name: secret
  secret:
    secretName: {{ .Values.secret.name }}
    defaultMode: 0440
    items:
    {{- range .Values.secret.keys }}
    - {key: {{ . }}, path: {{ . }}}
    {{- end }}
- name: temporary
  emptyDir: {sizeLimit: {{ .Values.temporary.sizeLimit }}}
- name: data
  emptyDir: {sizeLimit: 1Gi}
{{- end }}

{{/* The settings, with the listener of the metrics where a ServiceMonitor asks for it. */}}
{{- define "lakebed.settings" -}}
{{- if .Values.serviceMonitor.enabled }}
{{- toYaml (merge (deepCopy .Values.settings) (dict "metrics" (dict "listen" "0.0.0.0:9464"))) }}
{{- else }}
{{- toYaml .Values.settings }}
{{- end }}
{{- end }}
